package facts_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/clients/facts"
	"github.com/pointsman/pointsman/decision/guideline"
)

func text(s string) guideline.Value    { return guideline.Value{Type: guideline.String, Text: s} }
func number(n float64) guideline.Value { return guideline.Value{Type: guideline.Number, Number: n} }

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		in   string
		name string
		want guideline.Value
		err  string
	}{
		{"server.port=3306", "server.port", number(3306), ""},
		{"$.session.user=3306", "session.user", text("3306"), ""},
		{"session.user=a=b", "session.user", text("a=b"), ""},
		{"session.user=", "session.user", text(""), ""},
		{"session.connectAttrs.program_name=true", "session.connectAttrs.program_name", text("true"), ""},
		{"server.isClusterInvalidated=true", "server.isClusterInvalidated", guideline.Value{Type: guideline.Boolean, Bool: true}, ""},
		{"server.memberRole=secondary", "server.memberRole", text("secondary"), ""},
		{"server.label=null", "server.label", text("null"), ""},
		{"server.port=null", "server.port", guideline.Value{}, ""},
		{"server.tags.zone=eu", "server.tags.zone", text(`"eu"`), ""},
		{`server.tags.zone="eu"`, "server.tags.zone", text(`"eu"`), ""},
		{`router.tags.a={ "b" : [1, 2] }`, "router.tags.a", text(`{"b":[1,2]}`), ""},
		{"router.tags.a=<x>", "router.tags.a", text(`"<x>"`), ""},
		{"sql.queryTags.a=x", "sql.queryTags.a", text("x"), ""},
		{"mine=5", "mine", number(5), ""},
		{"mine=[1]", "mine", text("[1]"), ""},
		{"mine=five", "mine", text("five"), ""},
		{"server.port=x", "", guideline.Value{}, "server.port: expected NUMBER but got STRING"},
		{"server.memberRole=LEADER", "", guideline.Value{}, "there is no role"},
		{"server.port", "", guideline.Value{}, "write NAME=VALUE"},
		{"=1", "", guideline.Value{}, "write NAME=VALUE"},
	} {
		got, err := facts.Parse(tt.in)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v, want %s", tt.in, err, tt.err)
			}
		} else if err != nil || got.Name != tt.name || got.Value != tt.want {
			t.Errorf("%s: %+v, %v", tt.in, got, err)
		}
	}
}

func TestRouter(t *testing.T) {
	texts := []string{
		"name=n", "hostname=h", "localCluster=c", "routeName=r", "bindAddress=b", "port.rw=1", "port.ro=2", "port.rw_split=65535",
		`tags.a="x"`, "tags.b=1",
	}
	want := &guideline.Router{
		Name: "n", Hostname: "h", LocalCluster: "c", RouteName: "r", BindAddress: "b", PortRW: 1, PortRO: 2, PortRWSplit: 65535,
		Tags: map[string]string{"a": `"x"`, "b": "1"},
	}
	got, err := facts.Router(texts)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if back := facts.RouterTexts(got); !reflect.DeepEqual(back, texts) {
		t.Errorf("%q", back)
	}
	if got, err := facts.Router([]string{"$.router.name=a", "router.tags.z=b"}); err != nil || got.Name != "a" || got.Tags["z"] != `"b"` {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := facts.Router(nil); got != nil || err != nil || facts.RouterTexts(got) != nil {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"name", "port=1", "port.rw=65536", "port.ro=-1", "port.ro=1.5", "port.rw_split=x"} {
		if got, err := facts.Router([]string{bad}); err == nil {
			t.Errorf("%s: %+v", bad, got)
		}
	}
}

func TestAttributes(t *testing.T) {
	texts := []string{"_os=Linux", "program_name=a b=c"}
	got, err := facts.Attributes(texts)
	if err != nil || !reflect.DeepEqual(got, map[string]string{"_os": "Linux", "program_name": "a b=c"}) || !reflect.DeepEqual(facts.AttributeTexts(got), texts) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"a", "=b"} {
		if got, err := facts.Attributes([]string{bad}); err == nil {
			t.Errorf("%s: %v", bad, got)
		}
	}
}

func TestNames(t *testing.T) {
	var hosts map[string]facts.Addresses
	if err := json.Unmarshal([]byte(`{"A.b": "10.0.0.1", "c": ["::1", "10.0.0.2", "10.0.0.3"]}`), &hosts); err != nil {
		t.Fatal(err)
	}
	want := guideline.Names{{Name: "a.b"}: "10.0.0.1", {Name: "c"}: "10.0.0.2", {Name: "c", V6: true}: "::1"}
	if got := facts.Names(hosts); !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	got, err := facts.ParseNames([]string{"A.b=10.0.0.1", "c=::1", "c=10.0.0.2"})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"a", "=b", "a="} {
		if got, err := facts.ParseNames([]string{bad}); err == nil {
			t.Errorf("%s: %v", bad, got)
		}
	}
	if err := json.Unmarshal([]byte(`{"a": 1}`), &hosts); err == nil {
		t.Error("a number is no address")
	}
}
