package snapshot

import (
	"strings"
	"testing"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

func TestShowHasNoSecrets(t *testing.T) {
	site := &Site{Listeners: []Listener{{Name: "default"}}}
	native := "*" + strings.Repeat("0", 40)
	users := []*configv1.User{
		{Username: "a", Password: new("hush"), BackendPassword: new("hushed")},
		{Username: "b", Password: new(native)},
		{Username: "c", Password: new("$A$005$hush")},
		{Username: "d", Password: new("")},
	}
	m := &configv1.WatchGatewayConfigResponse{
		Generation: 3, Users: &configv1.UserList{Users: users}, Servers: &configv1.ServerList{Servers: []*configv1.Server{{HostgroupId: 5, Hostname: "h"}}},
		Settings: &configv1.Settings{}, Guideline: &configv1.GuidelinePart{Document: `{"name":"mine"}`},
	}
	raw, err := build(m, site, nil).Show()
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, not := range []string{"hush", native, "$A$"} {
		if strings.Contains(text, not) {
			t.Errorf("%s is shown", not)
		}
	}
	for _, want := range []string{"clear text", "native hash", "caching_sha2 hash", "empty", "hostgroup_id", "mine"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not shown", want)
		}
	}
	if users[0].GetPassword() != "hush" || m.GetGuideline().GetDocument() != `{"name":"mine"}` {
		t.Error("the configuration itself was changed")
	}
	if got := nameOf("{"); got != "(without a name)" {
		t.Error(got)
	}
}
