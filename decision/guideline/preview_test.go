package guideline

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"
)

type previewCase struct {
	Name            string
	Guideline       json.RawMessage
	Router, Session map[string]any
	Servers         []map[string]any
	Cache           map[string]any `json:"resolve_cache"`
	Expected        struct {
		Classes map[string][]string
		Route   *string
		Tiers   [][]string
		Errors  []string
	}
}

// variables makes variables of decoded JSON, by name.
func variables(members map[string]any) []Variable {
	var list []Variable
	for _, name := range slices.Sorted(maps.Keys(members)) {
		v := Variable{Name: name}
		switch member := members[name].(type) {
		case string:
			v.Value = Value{Type: String, Text: member}
		case float64:
			v.Value = Value{Type: Number, Number: member}
		case bool:
			v.Value = Value{Type: Boolean, Bool: member}
		}
		list = append(list, v)
	}
	return list
}

func (c *previewCase) question(tb testing.TB) PreviewQuestion {
	tb.Helper()
	addresses := make(map[string][]string)
	for host, entry := range c.Cache {
		switch entry := entry.(type) {
		case string:
			addresses[host] = []string{entry}
		case []any:
			for _, address := range entry {
				addresses[host] = append(addresses[host], address.(string))
			}
		}
	}
	q := PreviewQuestion{Names: NewNames(addresses)}
	var err error
	if q.Router, err = NewRouter(variables(c.Router)); err != nil {
		tb.Fatal(err)
	}
	if q.Session, err = NewSession(variables(c.Session)); err != nil {
		tb.Fatal(err)
	}
	for _, members := range c.Servers {
		server, err := NewServer(variables(members))
		if err != nil {
			tb.Fatal(err)
		}
		q.Servers = append(q.Servers, *server)
	}
	return q
}

func TestPreviews(t *testing.T) {
	for _, c := range cases[previewCase](t, "previews.json") {
		t.Run(c.Name, func(t *testing.T) {
			answer := Preview(c.Guideline, c.question(t))
			if len(answer.Classes) != len(c.Expected.Classes) {
				t.Fatalf("classes of %d servers, want those of %d", len(answer.Classes), len(c.Expected.Classes))
			}
			for i, server := range answer.Classes {
				if server.Label != c.Servers[i]["server.label"] {
					t.Errorf("server %d is %q", i, server.Label)
				}
				if want := c.Expected.Classes[server.Label]; !slices.Equal(server.Classes, want) {
					t.Errorf("%s: classes %q, want %q", server.Label, server.Classes, want)
				}
			}
			var route *string
			if answer.Route != nil {
				route = &answer.Route.Name
			}
			if !reflect.DeepEqual(route, c.Expected.Route) {
				t.Errorf("route %v, want %v", answer.Route, c.Expected.Route)
			}
			if !slices.EqualFunc(answer.Tiers, c.Expected.Tiers, slices.Equal[[]string]) {
				t.Errorf("tiers %q, want %q", answer.Tiers, c.Expected.Tiers)
			}
			if !slices.Equal(answer.Errors, c.Expected.Errors) {
				t.Errorf("errors %q, want %q", answer.Errors, c.Expected.Errors)
			}
		})
	}
}

func TestFacts(t *testing.T) {
	all := variables(map[string]any{
		"server.label": "a", "server.address": "b", "server.port": 1.0, "server.uuid": "c", "server.version": 80403.0,
		"server.clusterName": "d", "server.clusterSetName": "e", "server.isClusterInvalidated": true,
		"server.memberRole": "read_replica", "server.clusterRole": "", "server.tags.x.y": "7", "server.tags.none": nil,
	})
	server, err := NewServer(all)
	null := AllVariables()
	for _, v := range all {
		null.Remove(v.Name)
	}
	want := &Server{
		Label: "a", Address: "b", Port: 1, UUID: "c", Version: 80403, ClusterName: "d", ClusterSetName: "e",
		IsClusterInvalidated: true, MemberRole: ReadReplica, Tags: map[string]string{"x.y": "7"}, Null: null,
	}
	if err != nil || !reflect.DeepEqual(server, want) {
		t.Errorf("got %+v, %v", server, err)
	}
}

func TestRoleAsValue(t *testing.T) {
	server, err := NewServer([]Variable{{Name: "server.clusterRole", Value: Value{Type: RoleType, Text: "Replica"}}})
	if err != nil || server.ClusterRole != Replica {
		t.Errorf("got %+v, %v", server, err)
	}
}

func TestNewNames(t *testing.T) {
	got := NewNames(map[string][]string{"DB": {"::1", "192.0.2.1", "192.0.2.2", "::2"}, "none": nil})
	want := Names{{Name: "db"}: "192.0.2.1", {Name: "db", V6: true}: "::1"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

func TestFactsRefused(t *testing.T) {
	server := func(v []Variable) error { _, err := NewServer(v); return err }
	router := func(v []Variable) error { _, err := NewRouter(v); return err }
	session := func(v []Variable) error { _, err := NewSession(v); return err }
	for _, tt := range []struct {
		facts func([]Variable) error
		name  string
		value any
		want  string
	}{
		{server, "server.port", "3306", "server.port: expected NUMBER but got STRING"},
		{server, "server.label", true, "server.label: expected STRING but got BOOLEAN"},
		{server, "server.isClusterInvalidated", 1.0, "server.isClusterInvalidated: expected BOOLEAN but got NUMBER"},
		{server, "server.memberRole", 1.0, `server.memberRole: expected STRING but got NUMBER`},
		{server, "server.memberRole", "LEADER", `server.memberRole: there is no role "LEADER", use PRIMARY, SECONDARY, READ_REPLICA, REPLICA or UNDEFINED`},
		{server, "server.tags.x", 7.0, "server.tags.x: expected STRING but got NUMBER"},
		{server, "server.tags", "{}", "server.tags: there is no such variable"},
		{server, "session.user", "a", "session.user: there is no such variable"},
		{router, "router.port", 1.0, "router.port: there is no such variable"},
		{session, "session.connectAttrs.a", 1.0, "session.connectAttrs.a: expected STRING but got NUMBER"},
		{session, "user", "a", "user: there is no such variable"},
	} {
		err := tt.facts(variables(map[string]any{tt.name: tt.value}))
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
}
