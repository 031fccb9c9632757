package loaded_test

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/translate"
)

const document = `{"version": "1.0", "destinations": [{"name": "d", "match": "TRUE"}],
 "routes": [{"name": "r", "match": "TRUE", "destinations": [{"classes": ["d"], "strategy": "round-robin", "priority": 0}]}]}`

// config has something in every part, but for guideline, which excludes active_guideline.
func config() *configv1.Config {
	return &configv1.Config{
		Settings:   &configv1.Settings{DefaultQueryTimeout: proto.Uint32(5000)},
		Hostgroups: []*configv1.Hostgroup{{HostgroupId: 1, Comment: "all"}},
		Servers:    []*configv1.Server{{HostgroupId: 1, Hostname: "db", Weight: proto.Int64(7)}},
		Users: []*configv1.User{
			{Username: "app", Password: new("secret"), BackendUsername: "b", BackendPassword: new("deep"), DefaultHostgroup: 1},
			{Username: "off", Password: new("old"), Active: new(false), DefaultHostgroup: 1},
		},
		QueryRules: []*configv1.QueryRule{{RuleId: 1, MatchDigest: new("x")}},
		FastRoutes: []*configv1.FastRoute{{Username: "app", Schemaname: "s", DestinationHostgroup: 1}},

		GuidelineBinding: &configv1.GuidelineBinding{WriterHostgroup: new(int32(1)), ReaderHostgroup: new(int32(1))},
		Guidelines:       []*configv1.Guideline{{Name: "g", Document: document}},
		ActiveGuideline:  "g",
	}
}

func load(t *testing.T, cfg *configv1.Config) (*loaded.Generation, error) {
	t.Helper()
	stored, err := translate.Marshal(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return loaded.Load(4, "d", translate.Format, stored)
}

func TestLoad(t *testing.T) {
	g, err := load(t, config())
	if err != nil {
		t.Fatal(err)
	}
	if g.Number != 4 || g.Digest != "d" || g.Core.Number() != 4 {
		t.Errorf("generation %d %s, core %d", g.Number, g.Digest, g.Core.Number())
	}
	if users := g.Gateway.Users.Message.GetUsers(); len(users) != 1 || users[0].GetUsername() != "app" {
		t.Errorf("users %v, want the active one", users)
	}
	if servers := g.Gateway.Servers.Message; len(servers.GetServers()) != 1 || servers.GetServers()[0].GetWeight() != 7 ||
		servers.GetHostgroups()[0].GetMaxNumOnlineServers() != 1_000_000 {
		t.Errorf("servers %v", servers)
	}
	if got := g.Gateway.Settings.Message; got.GetDefaultQueryTimeout() != 5000 || !got.GetQueryDigests() {
		t.Errorf("settings %v", got)
	}
	if got := g.Gateway.Guideline.Message; got.GetDocument() != document || got.GetBinding().GetDefaultMode() != "rw_split" {
		t.Errorf("guideline %v", got)
	}

	again, err := load(t, config())
	if err != nil {
		t.Fatal(err)
	}
	changed := config()
	changed.Users[0].MaxConnections = proto.Uint32(1)
	other, err := load(t, changed)
	if err != nil {
		t.Fatal(err)
	}
	if g.Gateway.Users.Sum != again.Gateway.Users.Sum || g.Gateway.Servers.Sum != again.Gateway.Servers.Sum || g.Gateway.Settings.Sum != again.Gateway.Settings.Sum {
		t.Error("equal configurations have different sums")
	}
	if g.Gateway.Users.Sum == other.Gateway.Users.Sum || g.Gateway.Servers.Sum != other.Gateway.Servers.Sum {
		t.Error("a change of a user shows in the wrong sums")
	}
}

func TestLoadRefuses(t *testing.T) {
	cfg := config()
	cfg.ActiveGuideline, cfg.GuidelineBinding, cfg.Guidelines = "", nil, nil // they have warnings
	cfg.QueryRules[0].MatchDigest = new("(")
	g, err := load(t, cfg)
	var problems *loaded.ProblemsError
	if g != nil || !errors.As(err, &problems) || len(problems.Problems) != 1 {
		t.Fatalf("generation %v, error %v", g, err)
	}
	if !strings.Contains(err.Error(), "generation 4") || !strings.Contains(err.Error(), "query_rules[0].match_digest: ") {
		t.Errorf("error %q names neither the generation nor the place", err)
	}
	cfg.QueryRules[0].Digest = "x"
	if _, err = load(t, cfg); err == nil || !strings.Contains(err.Error(), "2 problems") {
		t.Errorf("error %q", err)
	}
	if _, err := loaded.Load(1, "", translate.Format+1, nil); !errors.Is(err, translate.ErrFormat) {
		t.Errorf("newer format: %v", err)
	}
}

func TestStrip(t *testing.T) {
	cfg := config()
	cfg.Guideline = document
	before := proto.CloneOf(cfg)
	got := loaded.Strip(cfg)
	if !proto.Equal(cfg, before) {
		t.Error("the configuration itself changed")
	}
	want := proto.CloneOf(cfg)
	for _, u := range want.GetUsers() {
		u.Password, u.BackendPassword = nil, nil
	}
	if !proto.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// A part that Config gets some day must not be lost here.
	fields := got.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if !got.ProtoReflect().Has(fields.Get(i)) {
			t.Errorf("%s is lost", fields.Get(i).Name())
		}
	}
}

func TestFillIn(t *testing.T) {
	stored := loaded.NewCredentials(config().GetUsers())
	tests := map[string]struct {
		given, want *configv1.User
	}{
		"none given": {
			&configv1.User{Username: "app", BackendUsername: "b"},
			&configv1.User{Username: "app", BackendUsername: "b", Password: new("secret"), BackendPassword: new("deep")},
		},
		"given": {
			&configv1.User{Username: "app", BackendUsername: "b", Password: new(""), BackendPassword: new("new")},
			&configv1.User{Username: "app", BackendUsername: "b", Password: new(""), BackendPassword: new("new")},
		},
		"another backend user": {
			&configv1.User{Username: "app", BackendUsername: "c"},
			&configv1.User{Username: "app", BackendUsername: "c", Password: new("secret")},
		},
		"inactive": {&configv1.User{Username: "off"}, &configv1.User{Username: "off", Password: new("old")}},
		"unknown":  {&configv1.User{Username: "new"}, &configv1.User{Username: "new"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := config()
			cfg.Users = []*configv1.User{tt.given}
			before := proto.CloneOf(cfg)
			got := stored.FillIn(cfg)
			if !proto.Equal(cfg, before) {
				t.Error("the given configuration changed")
			}
			before.Users[0] = tt.want
			if !proto.Equal(got, before) {
				t.Errorf("got %v, want %v", got, before)
			}
		})
	}
	var none loaded.Credentials
	if cfg := config(); none.FillIn(cfg) != cfg {
		t.Error("no credentials changed a configuration")
	}
}
