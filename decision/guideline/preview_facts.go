package guideline

import (
	"errors"
	"fmt"
	"strings"
)

// errUnknownVariable is for a name that its scope does not have.
var errUnknownVariable = errors.New("there is no such variable")

// NewRouter makes facts of variables named as in expressions, without "$.": "router.port.rw", "router.tags.zone" (the
// value is compact JSON text). What is not given, or given as NULL, reads NULL. A name that is unknown or a value of another
// type is an error that names the variable.
func NewRouter(variables []Variable) (*Router, error) {
	r := &Router{Null: AllVariables(), Tags: make(map[string]string)}
	return r, fill(variables, &r.Null, map[string]any{
		"router.localCluster":  &r.LocalCluster,
		"router.hostname":      &r.Hostname,
		"router.bindAddress":   &r.BindAddress,
		"router.port.ro":       &r.PortRO,
		"router.port.rw":       &r.PortRW,
		"router.port.rw_split": &r.PortRWSplit,
		"router.routeName":     &r.RouteName,
		"router.name":          &r.Name,
	}, "router.tags.", r.Tags)
}

// NewServer makes facts of variables such as "server.label", as [NewRouter] does. Roles are given as texts.
func NewServer(variables []Variable) (*Server, error) {
	s := &Server{Null: AllVariables(), Tags: make(map[string]string)}
	return s, fill(variables, &s.Null, map[string]any{
		"server.label":                &s.Label,
		"server.address":              &s.Address,
		"server.port":                 &s.Port,
		"server.uuid":                 &s.UUID,
		"server.version":              &s.Version,
		"server.clusterName":          &s.ClusterName,
		"server.clusterSetName":       &s.ClusterSetName,
		"server.isClusterInvalidated": &s.IsClusterInvalidated,
		"server.memberRole":           &s.MemberRole,
		"server.clusterRole":          &s.ClusterRole,
	}, "server.tags.", s.Tags)
}

// NewSession makes facts of variables such as "session.user" and "session.connectAttrs.program_name" (the value is plain
// text), as [NewRouter] does.
func NewSession(variables []Variable) (*Session, error) {
	s := &Session{Null: AllVariables(), ConnectAttrs: make(map[string]string)}
	return s, fill(variables, &s.Null, map[string]any{
		"session.targetIP":    &s.TargetIP,
		"session.targetPort":  &s.TargetPort,
		"session.sourceIP":    &s.SourceIP,
		"session.randomValue": &s.RandomValue,
		"session.user":        &s.User,
		"session.schema":      &s.Schema,
	}, connectAttrPrefix, s.ConnectAttrs)
}

// NewNames takes the first address of each family from the addresses of each host.
func NewNames(addresses map[string][]string) Names {
	names := make(Names)
	for name, texts := range addresses {
		for _, text := range texts {
			host := Host{Name: strings.ToLower(name), V6: strings.Contains(text, ":")}
			if _, known := names[host]; !known {
				names[host] = text
			}
		}
	}
	return names
}

// fill sets the fields that variables name and takes them out of null. Names that begin with prefix are keys of texts.
func fill(variables []Variable, null *Variables, fields map[string]any, prefix string, texts map[string]string) error {
	for _, v := range variables {
		if v.Value.Type == Null {
			continue
		}
		var err error
		if key, ok := strings.CutPrefix(v.Name, prefix); ok {
			var text string
			err = assign(&text, v.Value)
			texts[key] = text
		} else if field, ok := fields[v.Name]; ok {
			err = assign(field, v.Value)
			null.Remove(v.Name)
		} else {
			err = errUnknownVariable
		}
		if err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	return nil
}

// assign sets a field if the value has its type.
func assign(field any, value Value) error {
	want := String
	switch field := field.(type) {
	case *string:
		*field = value.Text
	case *float64:
		want = Number
		*field = value.Number
	case *bool:
		want = Boolean
		*field = value.Bool
	case *Role:
		role, ok := ParseRole(value.Text)
		if !ok {
			return fmt.Errorf("there is no role %q, use PRIMARY, SECONDARY, READ_REPLICA, REPLICA or UNDEFINED", value.Text)
		}
		*field = role
		if value.Type == RoleType {
			return nil
		}
	}
	if value.Type != want {
		return fmt.Errorf("expected %v but got %v", want, value.Type)
	}
	return nil
}
