package guideline

import "strings"

// builtin is a variable with a name of its own (spec 5).
type builtin struct {
	name  string
	typ   Type
	scope scopeID
}

// Places in builtins.
const (
	routerLocalCluster = iota
	routerHostname
	routerBindAddress
	routerPortRO
	routerPortRW
	routerPortRWSplit
	routerRouteName
	routerName
	serverLabel
	serverAddress
	serverPort
	serverUUID
	serverVersion
	serverClusterName
	serverClusterSetName
	serverIsClusterInvalidated
	serverMemberRole
	serverClusterRole
	sessionTargetIP
	sessionTargetPort
	sessionSourceIP
	sessionRandomValue
	sessionUser
	sessionSchema
)

var builtins = [...]builtin{
	routerLocalCluster:         {"router.localCluster", String, scopeRouter},
	routerHostname:             {"router.hostname", String, scopeRouter},
	routerBindAddress:          {"router.bindAddress", String, scopeRouter},
	routerPortRO:               {"router.port.ro", Number, scopeRouter},
	routerPortRW:               {"router.port.rw", Number, scopeRouter},
	routerPortRWSplit:          {"router.port.rw_split", Number, scopeRouter},
	routerRouteName:            {"router.routeName", String, scopeRouter},
	routerName:                 {"router.name", String, scopeRouter},
	serverLabel:                {"server.label", String, scopeServer},
	serverAddress:              {"server.address", String, scopeServer},
	serverPort:                 {"server.port", Number, scopeServer},
	serverUUID:                 {"server.uuid", String, scopeServer},
	serverVersion:              {"server.version", Number, scopeServer},
	serverClusterName:          {"server.clusterName", String, scopeServer},
	serverClusterSetName:       {"server.clusterSetName", String, scopeServer},
	serverIsClusterInvalidated: {"server.isClusterInvalidated", Boolean, scopeServer},
	serverMemberRole:           {"server.memberRole", RoleType, scopeServer},
	serverClusterRole:          {"server.clusterRole", RoleType, scopeServer},
	sessionTargetIP:            {"session.targetIP", String, scopeSession},
	sessionTargetPort:          {"session.targetPort", Number, scopeSession},
	sessionSourceIP:            {"session.sourceIP", String, scopeSession},
	sessionRandomValue:         {"session.randomValue", Number, scopeSession},
	sessionUser:                {"session.user", String, scopeSession},
	sessionSchema:              {"session.schema", String, scopeSession},
}

// keyed are the variables whose last part is anybody's choice.
var keyed = [...]struct {
	prefix string
	scope  scopeID
	op     op
}{
	{"router.tags.", scopeRouter, opTag},
	{"server.tags.", scopeServer, opTag},
	{"session.connectAttrs.", scopeSession, opAttribute},
	{"sql.queryTags.", scopeSession, opAbsent},
	{"sql.queryHints.", scopeSession, opAbsent},
}

// variableNode makes the node of a variable, nil when there is none of that name.
func variableNode(name string, o *ParseOptions) *node {
	if id, found := builtinNamed(name); found {
		return &node{op: opVariable, typ: builtins[id].typ, variable: &reference{name: name, id: id, scope: builtins[id].scope}}
	}
	for _, k := range keyed {
		key, found := strings.CutPrefix(name, k.prefix)
		if !found {
			continue
		}
		n := &node{op: k.op, typ: String, variable: &reference{name: name, scope: k.scope, key: key}}
		if n.op == opTag && !o.JSONTags {
			n.op = opAttribute
		}
		return n
	}
	for i := range o.Extra {
		if o.Extra[i].Name == name {
			return &node{op: opExtra, typ: o.Extra[i].Value.Type, variable: &reference{name: name, id: i}}
		}
	}
	return nil
}

// null gives the variables of a scope that read NULL; all of them when there is no such scope.
func (f *Facts) null(scope scopeID) Variables {
	switch {
	case scope == scopeRouter && f.Router != nil:
		return f.Router.Null
	case scope == scopeServer && f.Server != nil:
		return f.Server.Null
	case scope == scopeSession && f.Session != nil:
		return f.Session.Null
	}
	return AllVariables()
}

// known tells whether a variable has a value.
func (f *Facts) known(id int) bool { return f.null(builtins[id].scope)&(1<<id) == 0 }

// text reads a STRING variable; false is NULL.
func (f *Facts) text(id int) (string, bool) {
	if !f.known(id) {
		return "", false
	}
	switch id {
	case routerLocalCluster:
		return f.Router.LocalCluster, true
	case routerHostname:
		return f.Router.Hostname, true
	case routerBindAddress:
		return f.Router.BindAddress, true
	case routerRouteName:
		return f.Router.RouteName, true
	case routerName:
		return f.Router.Name, true
	case serverLabel:
		return f.Server.Label, true
	case serverAddress:
		return f.Server.Address, true
	case serverUUID:
		return f.Server.UUID, true
	case serverClusterName:
		return f.Server.ClusterName, true
	case serverClusterSetName:
		return f.Server.ClusterSetName, true
	case sessionTargetIP:
		return f.Session.TargetIP, true
	case sessionSourceIP:
		return f.Session.SourceIP, true
	case sessionUser:
		return f.Session.User, true
	case sessionSchema:
		return f.Session.Schema, true
	}
	return "", false
}

// number reads a NUMBER variable; false is NULL.
func (f *Facts) number(id int) (float64, bool) {
	if !f.known(id) {
		return 0, false
	}
	switch id {
	case routerPortRO:
		return f.Router.PortRO, true
	case routerPortRW:
		return f.Router.PortRW, true
	case routerPortRWSplit:
		return f.Router.PortRWSplit, true
	case serverPort:
		return f.Server.Port, true
	case serverVersion:
		return f.Server.Version, true
	case sessionTargetPort:
		return f.Session.TargetPort, true
	case sessionRandomValue:
		return f.Session.RandomValue, true
	}
	return 0, false
}

// role reads a ROLE variable; false is NULL.
func (f *Facts) role(id int) (Role, bool) {
	if !f.known(id) {
		return Undefined, false
	}
	if id == serverMemberRole {
		return f.Server.MemberRole, true
	}
	return f.Server.ClusterRole, true
}

// attribute reads a tag or connection attribute; false is NULL.
func (f *Facts) attribute(r *reference) (string, bool) {
	var from map[string]string
	switch {
	case r.scope == scopeRouter && f.Router != nil:
		from = f.Router.Tags
	case r.scope == scopeServer && f.Server != nil:
		from = f.Server.Tags
	case r.scope == scopeSession && f.Session != nil:
		from = f.Session.ConnectAttrs
	}
	text, found := from[r.key]
	return text, found
}
