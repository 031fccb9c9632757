package snapshot

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/pointsman/pointsman/decision/guideline"
	"github.com/pointsman/pointsman/decision/selection"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

const document = `{"version":"1.1","name":"g",
"destinations":[
  {"name":"near","match":"$.server.tags.place = {\"rack\":1,\"zone\":\"a\"} AND $.router.tags.zone = 'a'"},
  {"name":"rest","match":"$.server.port > 0"}],
"routes":[{"name":"a:b","match":"$.session.sourceIP = RESOLVE_V4(web)","destinations":[
  {"classes":["near"],"strategy":"first-available","priority":0},
  {"classes":["rest"],"strategy":"first-available","priority":1}]}]}`

func guided(generation, sequence uint64, text string) *configv1.WatchGatewayConfigResponse {
	m := full(generation, "a", "x")
	m.Sequence = sequence
	m.Guideline = &configv1.GuidelinePart{Document: text, Binding: &configv1.GuidelineBinding{
		WriterHostgroup: proto.Int32(1), ReaderHostgroup: proto.Int32(2), DefaultMode: new("rw"),
	}}
	return m
}

func TestGuide(t *testing.T) {
	place, err := structpb.NewStruct(map[string]any{"place": map[string]any{"zone": "a", "rack": 1}})
	if err != nil {
		t.Fatal(err)
	}
	m := guided(1, 1, document)
	m.Servers = &configv1.ServerList{Servers: []*configv1.Server{
		{HostgroupId: 1, Hostname: "p", Weight: proto.Int64(3)},
		{HostgroupId: 2, Hostname: "n", Port: proto.Uint32(3307), Tags: place, MaxConnections: proto.Int64(7)},
		{HostgroupId: 2, Hostname: "p"},
		{HostgroupId: 9, Hostname: "/run/s.sock", Port: proto.Uint32(0)},
	}}
	m.Runtime = &configv1.RuntimeState{
		Servers: []*configv1.ServerState{{Server: "p:3306", Unavailable: "down"}, {Server: "/run/s.sock:0", MemberRole: "SECONDARY", Unavailable: "too"}},
		Names:   []*configv1.ResolvedName{{Name: "web", Address: "10.0.0.1"}, {Name: "web", Ipv6: true}},
	}
	s := build(m, testSite(), nil)
	if s.Guide() == nil || s.Names()[guideline.Host{Name: "web"}] != "10.0.0.1" || len(s.Names()) != 1 {
		t.Fatalf("guide %v, names %v", s.Guide(), s.Names())
	}
	if b := s.Guide().Binding(); *b.WriterHostgroup != 1 || *b.ReaderHostgroup != 2 || *b.DefaultMode != "rw" {
		t.Errorf("binding %+v", b)
	}
	if r := s.Rows[1]; r.Addr != "n:3307" || r.Hostgroup != 2 || r.MaxConnections != 7 || s.Rows[3].Addr != "/run/s.sock" {
		t.Errorf("rows %+v", s.Rows)
	}
	if !s.Has("n:3307") || !s.Has("/run/s.sock") || s.Has("n:3306") {
		t.Error("servers of the configuration")
	}
	if n := s.Unavailable(func(addr string) bool { return addr == "n:3307" }); n != 3 {
		t.Errorf("%d servers unavailable", n)
	}
	for i, want := range []string{"default", "ro"} {
		v := s.View(i)
		if v.Listener.Name != want || v.Router.RouteName != want || v.Message.GetRouteName() != want || v.Router.BindAddress != "127.0.0.1" ||
			v.Message.GetBindAddress() != "127.0.0.1" || v.Router.Tags["zone"] != `"a"` || v.Message.GetTags()["zone"] != `"a"` {
			t.Errorf("view %d: %+v, %v", i, v.Router, v.Message)
		}
		if v.Router.PortRW != 6033 || v.Message.GetPortRw() != 6033 || v.Router.PortRO != 6034 || v.Message.GetPortRo() != 6034 || v.Message.GetPortRwSplit() != 0 {
			t.Errorf("ports of view %d: %v", i, v.Message)
		}
	}
	if s.View(0).Key == s.View(1).Key {
		t.Error("two listeners share a key")
	}
	v := s.View(0)
	pool := v.Pool("all:a:b")
	if pool == nil || v.Pool("all:a") != nil {
		t.Fatal("pools")
	}
	limits := selection.DefaultLimits()
	if row := pool.Pick(&limits, 0, nil, nil); row != 1 {
		t.Errorf("row %d drawn", row)
	}
	if len(pool.Rows()) != 2 { // each address once, and a socket has no port
		t.Errorf("rows %v", pool.Rows())
	}
	for i, want := range []string{"n:3307", "p:3306"} { // one in each tier
		if row := pool.Rows()[i]; s.Rows[row].Addr != want || pool.Tier(row) != i {
			t.Errorf("row %d, %s, is in tier %d", row, s.Rows[row].Addr, pool.Tier(row))
		}
	}
	var excluded selection.Set
	excluded.Add(1)
	if row := pool.Pick(&limits, 0, excluded, nil); row != -1 {
		t.Errorf("row %d drawn although its server is down", row)
	}
	// A hostgroup with more servers ONLINE than it may have gives none.
	m.Servers.Hostgroups = []*configv1.Hostgroup{{HostgroupId: 2, MaxNumOnlineServers: proto.Uint32(0)}}
	if row := build(m, testSite(), nil).View(0).Pool("all:a:b").Pick(&limits, 0, nil, nil); row != -1 {
		t.Errorf("row %d drawn although its hostgroup has too many servers ONLINE", row)
	}
	// The guideline is compiled once.
	next := full(2, "b", "y")
	next.Guideline = proto.CloneOf(m.GetGuideline())
	if after := build(next, testSite(), s); after.Guide() != s.Guide() || after.Serial != s.Serial+1 || after.Names() != nil {
		t.Error("guideline compiled again")
	}
}

func TestWithoutGuide(t *testing.T) {
	s := build(full(3, "a", "x"), testSite(), nil)
	if s.Guide() != nil || s.Names() != nil || s.View(0).Pool("all:a") != nil || s.View(1).Message.GetRouteName() != "ro" {
		t.Error("a guideline out of nothing")
	}
	if err := s.PoolProblem("all:a"); !strings.Contains(err.Error(), `no routing guideline is in force in generation 3, so there is no pool "all:a"`) {
		t.Error(err)
	}
	s = build(guided(4, 1, `{"version":"1.0"}`), testSite(), nil)
	if err := s.PoolProblem("all:a"); s.Guide() != nil || !strings.Contains(err.Error(), "can't be used by this gateway: guideline") {
		t.Error(err)
	}
	s = build(guided(5, 1, document), testSite(), s)
	if err := s.PoolProblem("all:c"); !strings.Contains(err.Error(), `the routing guideline of generation 5 has no pool "all:c"`) {
		t.Error(err)
	}
}

func TestGuideParts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "copy")
	var seen []uint64
	var log bytes.Buffer
	h := newHolder(path, &seen, &log)
	err := follow(t, h, guided(1, 1, document),
		&configv1.WatchGatewayConfigResponse{Generation: 1, Sequence: 2, Runtime: &configv1.RuntimeState{
			Servers: []*configv1.ServerState{{Server: "x:3306", MemberRole: "PRIMARY", Unavailable: "down"}},
		}},
		&configv1.WatchGatewayConfigResponse{Generation: 2, Sequence: 3, Users: userList("b")},
	)
	s := h.Current()
	none := func(string) bool { return false }
	if err != nil || s.Generation != 2 || s.Guide() == nil || s.Unavailable(none) != 1 {
		t.Errorf("%v: %+v", err, s)
	}
	if n := strings.Count(log.String(), "configuration received"); n != 2 {
		t.Errorf("%d configurations logged, runtime state is none:\n%s", n, log.String())
	}
	// The copy keeps guideline and roles, but not who was unavailable.
	s = newHolder(path, &seen, &log).Current()
	if s.Guide() == nil || s.Unavailable(none) != 0 || s.runtime.Servers["x:3306"].MemberRole != "PRIMARY" {
		t.Errorf("copy: %+v", s.runtime)
	}
	// No guideline any more, then one that is broken.
	h = newHolder(path, &seen, &log)
	if err := follow(t, h, guided(1, 1, ""), guided(2, 2, "{}"), &configv1.WatchGatewayConfigResponse{Generation: 3, Sequence: 3, Users: userList("c")}); err != nil {
		t.Error(err)
	}
	if n := strings.Count(log.String(), "routing guideline unusable"); h.Current().Guide() != nil || n != 1 {
		t.Errorf("reported %d times", n)
	}
}

func TestParseTags(t *testing.T) {
	tags, err := ParseTags(`{"a":{"bb":[1,2.5,null],"c":"x\"<"},"n":1e2}`)
	if err != nil || tags["a"] != `{"c":"x\"<","bb":[1,2.5,null]}` || tags["n"] != "100" || len(tags) != 2 {
		t.Errorf("%v, %v", tags, err)
	}
	if tags, err := ParseTags(""); tags != nil || err != nil {
		t.Errorf("%v, %v", tags, err)
	}
	for text, key := range map[string]string{
		`{"a":1,"a":2}`: "a", `{"a":1,"b":{},"\u0061":1}`: "a", `{"a":[{"b":1},{"c":{"":1,"d":[],"":2}}]}`: "",
	} {
		if _, err := ParseTags(text); err == nil || err.Error() != fmt.Sprintf("%s has the key %q twice in one object; remove one of the two", text, key) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := ParseTags(`{"a":{"a":1,"b":[1,{"a":"a"},{"a":"a"}]},"b":"a"}`); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"x", "[1]", `{"a":1`, `"a"`, "null"} {
		if _, err := ParseTags(bad); err == nil || !strings.Contains(err.Error(), bad+" is no JSON object") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
