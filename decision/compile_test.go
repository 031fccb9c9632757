package decision_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/decision"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares text with testdata/name, or writes it with -update.
func golden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s differs (run with -update to rewrite it):\n%s", name, text)
	}
}

func show(problems decision.Problems) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "%s %s at %s, rule %d, position %d:\n    %s\n", p.Severity, p.Code, p.Path, p.RuleID, p.Position, p.Message)
	}
	return b.String()
}

// TestTenMistakes has one mistake of each of ten kinds, and wants ten errors.
func TestTenMistakes(t *testing.T) {
	g, problems := decision.Compile(7, tenMistakes())
	if g != nil {
		t.Error("compiled")
	}
	if len(problems) != 10 {
		t.Errorf("%d problems", len(problems))
	}
	golden(t, "ten_mistakes.golden", show(problems))
}

func tenMistakes() *decision.Config {
	return &decision.Config{
		Servers: []decision.Server{
			{HostgroupID: 10, Hostname: "db1", Weight: new(int64(-5))},
			{HostgroupID: 20, Hostname: "db2"},
		},
		Users: []decision.User{{Username: "app", Password: new("secret"), DefaultHostgroup: 30}},
		QueryRules: []decision.QueryRule{
			{RuleID: 1, MatchDigest: new("^SELECT (id|name"), DestinationHostgroup: new(int64(20))},
			{RuleID: 2, Digest: "0xZZ", DestinationHostgroup: new(int64(20))},
			{RuleID: 3, ClientAddr: "10.%.2.3", DestinationHostgroup: new(int64(20))},
			{RuleID: 4, MatchPattern: new("^SELECT"), ReModifiers: new("CASELESS,GLOBL")},
			{RuleID: 5, ReplacePattern: new("SELECT 1")},
			{RuleID: 5, DestinationHostgroup: new(int64(10))},
			{RuleID: 6, Attributes: `{"flagOUTs":[{"id":1,"weight":}]}`},
			{RuleID: 7, MatchPattern: new("(a)b"), ReplacePattern: new(`\1\2`)},
		},
	}
}

// TestProblems has every other problem once.
func TestProblems(t *testing.T) {
	rule := func(r decision.QueryRule) *decision.Config {
		if r.RuleID == 0 {
			r.RuleID = 1
		}
		return &decision.Config{QueryRules: []decision.QueryRule{r}}
	}
	number := func(n int64) *int64 { return &n }
	user := func(u decision.User) *decision.Config {
		if u.Username == "" {
			u.Username = "app"
		}
		return &decision.Config{Users: []decision.User{u}}
	}
	server := func(s decision.Server) *decision.Config {
		if s.Hostname == "" {
			s.Hostname = "db1"
		}
		return &decision.Config{Servers: []decision.Server{s}}
	}
	cases := []struct {
		name string
		cfg  *decision.Config
		want []string // code@path:position, with "?" before a warning's
	}{
		{"nothing", &decision.Config{}, nil},
		{"settings", &decision.Config{Settings: decision.Settings{
			QueryDigestsMaxDigestLength: new(uint32(15)), QueryDigestsGroupingLimit: new(uint32(0)),
			QueryProcessorIterations: new(uint32(1_000_001)), QueryProcessorRegex: new(uint32(2)),
			QueryProcessorFirstCommentParsing: new(uint32(1)), ConnectTimeoutServer: new(uint32(9)), DigestMode: new("exact"),
		}}, []string{
			"out_of_range@settings.query_digests_max_digest_length", "out_of_range@settings.query_digests_grouping_limit",
			"out_of_range@settings.query_processor_iterations", "?regex_engine_ignored@settings.query_processor_regex",
			"out_of_range@settings.query_processor_first_comment_parsing", "out_of_range@settings.connect_timeout_server", "unknown_digest_mode@settings.digest_mode",
		}},
		{"hostgroups", &decision.Config{Hostgroups: []decision.Hostgroup{
			{HostgroupID: -1}, {HostgroupID: 1, MaxNumOnlineServers: new(uint32(1_000_001))}, {HostgroupID: 1},
		}}, []string{
			"out_of_range@hostgroups[0].hostgroup_id", "out_of_range@hostgroups[1].max_num_online_servers",
			"duplicate_key@hostgroups[2].hostgroup_id",
		}},
		{"servers twice", &decision.Config{Servers: []decision.Server{
			{Hostname: "db1"}, {Hostname: "db1", HostgroupID: 1}, {Hostname: "db1", Port: new(uint32(3306))}, {Hostname: "db1", Port: new(uint32(3307))},
		}}, []string{"duplicate_key@servers[2]"}},
		{"server without a name", &decision.Config{Servers: []decision.Server{{}}}, []string{"empty_key@servers[0].hostname"}},
		{"server port", server(decision.Server{Port: new(uint32(65536))}), []string{"out_of_range@servers[0].port"}},
		{"server status", server(decision.Server{Status: new("SHUNNED_REPLICATION_LAG")}), []string{"unknown_status@servers[0].status"}},
		{"server status word", server(decision.Server{Status: new("UP")}), []string{"unknown_status@servers[0].status"}},
		{"server numbers", server(decision.Server{
			HostgroupID: -2, Weight: number(10_000_001), MaxConnections: number(-1), MaxReplicationLag: number(126_144_001), MaxLatencyMS: number(-1),
		}), []string{
			"out_of_range@servers[0].hostgroup_id", "out_of_range@servers[0].weight", "out_of_range@servers[0].max_connections",
			"out_of_range@servers[0].max_replication_lag", "out_of_range@servers[0].max_latency_ms",
		}},
		{"TLS on a Unix socket", server(decision.Server{Hostname: "/run/s.sock", Port: new(uint32), UseSSL: true}), []string{"unsupported@servers[0].use_ssl"}},
		{"users", &decision.Config{Users: []decision.User{
			{Username: "a", Password: new("")}, {Username: "a", Password: new("")}, {Password: new("")}, {Username: "b", DefaultHostgroup: -1, Password: new("")},
		}}, []string{
			"duplicate_key@users[1].username", "empty_key@users[2].username", "out_of_range@users[3].default_hostgroup",
		}},
		{"inactive user", user(decision.User{Active: new(false), DefaultHostgroup: -1, Password: new("")}), []string{"?out_of_range@users[0].default_hostgroup"}},
		{"no password", user(decision.User{}), []string{"?no_password@users[0].password"}},
		{"clear passwords", &decision.Config{Users: []decision.User{
			{Username: "a", Password: new("")}, {Username: "b", Password: new("*short")}, {Username: "c", Password: new("$B$005$")},
		}}, nil},
		{"native hash", user(decision.User{Password: new("*" + strings.Repeat("0aF9", 10))}), []string{"?backend_login@users[0].backend_password"}},
		{"native hash and more", user(decision.User{Password: new("*" + strings.Repeat("0aF9", 10)), BackendPassword: new("")}), nil},
		{"bad native hash", user(decision.User{Password: new("*" + strings.Repeat("0aG9", 10))}), []string{"bad_password_hash@users[0].password"}},
		{"sha2 hash", user(decision.User{Password: new("$A$005$" + strings.Repeat("x", 63))}), nil},
		{"socket with a port", &decision.Config{Servers: []decision.Server{{Hostname: "/run/mysqld.sock"}, {Hostname: "db1", Port: new(uint32)}}}, []string{
			"out_of_range@servers[0].port", "out_of_range@servers[1].port",
		}},
		{"socket", &decision.Config{Servers: []decision.Server{{Hostname: "/run/mysqld.sock", Port: new(uint32)}}}, nil},
		{"bad sha2 hash", user(decision.User{Password: new("$A$005$" + strings.Repeat("x", 62))}), []string{"bad_password_hash@users[0].password"}},
		{"other sha2 rounds", user(decision.User{Password: new("$A$00A$" + strings.Repeat("x", 63))}), []string{"bad_password_hash@users[0].password"}},
		{"unknown hostgroups", &decision.Config{
			Hostgroups: []decision.Hostgroup{{HostgroupID: 1}},
			Servers:    []decision.Server{{HostgroupID: 2, Hostname: "db1"}},
			Users: []decision.User{
				{Username: "a", Password: new(""), DefaultHostgroup: 1}, {Username: "b", Password: new(""), DefaultHostgroup: 2}, {Username: "c", Password: new(""), DefaultHostgroup: 3},
			},
			QueryRules: []decision.QueryRule{{RuleID: 1, DestinationHostgroup: number(3)}},
			FastRoutes: []decision.FastRoute{{DestinationHostgroup: 3}, {DestinationHostgroup: 4, FlagIn: 1}},
		}, []string{
			"unknown_hostgroup@users[2].default_hostgroup", "?unknown_hostgroup@query_rules[0].destination_hostgroup",
			"?unknown_hostgroup@fast_routes[1].destination_hostgroup",
		}},
		{"rule ids", &decision.Config{QueryRules: []decision.QueryRule{
			{RuleID: 0}, {RuleID: -1}, {RuleID: 1 << 31}, {RuleID: 1<<31 - 1}, {RuleID: 5}, {RuleID: 5, Active: new(false)},
		}}, []string{
			"out_of_range@query_rules[0].rule_id", "out_of_range@query_rules[1].rule_id", "out_of_range@query_rules[2].rule_id",
			"duplicate_key@query_rules[5].rule_id",
		}},
		{"rule flags", rule(decision.QueryRule{FlagIn: -1, FlagOut: number(-1), NextQueryFlagIn: number(1 << 31), MirrorFlagOut: number(-1)}), []string{
			"out_of_range@query_rules[0].flag_in", "out_of_range@query_rules[0].flag_out",
			"out_of_range@query_rules[0].next_query_flag_in", "out_of_range@query_rules[0].mirror_flag_out",
		}},
		{"rule numbers", rule(decision.QueryRule{
			ProxyPort: number(65536), CacheTTL: number(0), CacheTimeout: number(-1), Timeout: number(1 << 32), Retries: number(1001), Delay: number(-1),
			MirrorHostgroup: number(-1), Multiplex: number(3), GTIDFromHostgroup: number(1 << 31), DestinationHostgroup: number(1 << 31),
		}), []string{
			"out_of_range@query_rules[0].proxy_port", "out_of_range@query_rules[0].destination_hostgroup", "out_of_range@query_rules[0].cache_ttl",
			"out_of_range@query_rules[0].cache_timeout", "out_of_range@query_rules[0].timeout", "out_of_range@query_rules[0].retries",
			"out_of_range@query_rules[0].delay", "out_of_range@query_rules[0].mirror_hostgroup", "out_of_range@query_rules[0].multiplex",
			"out_of_range@query_rules[0].gtid_from_hostgroup",
		}},
		{"largest numbers", rule(decision.QueryRule{
			ProxyPort: number(65535), CacheTTL: number(1<<32 - 1), CacheTimeout: number(0), Timeout: number(0), Retries: number(1000), Delay: number(1<<32 - 1),
			MirrorHostgroup: number(1<<31 - 1), Multiplex: number(2), GTIDFromHostgroup: number(0), DestinationHostgroup: number(1<<31 - 1),
		}), nil},
		{"negative hostgroup", rule(decision.QueryRule{DestinationHostgroup: number(-5)}), []string{"?negative_hostgroup@query_rules[0].destination_hostgroup"}},
		{"addresses", rule(decision.QueryRule{ClientAddr: "10.0.0.0/8, 10.1.%", ProxyAddr: "10.0.0.0/33"}), []string{
			"bad_client_addr@query_rules[0].client_addr:12", "bad_proxy_addr@query_rules[0].proxy_addr:0",
		}},
		{"address list", rule(decision.QueryRule{ClientAddr: "10.0.0.1,10.0.0.2"}), []string{"bad_client_addr@query_rules[0].client_addr:8"}},
		{"long address", rule(decision.QueryRule{ClientAddr: strings.Repeat("1", 46)}), []string{"bad_client_addr@query_rules[0].client_addr:45"}},
		{"longest address", rule(decision.QueryRule{ClientAddr: strings.Repeat("1", 45)}), nil},
		{"proxy_addr wildcard", rule(decision.QueryRule{ProxyAddr: "10.0.%"}), []string{"?bad_proxy_addr@query_rules[0].proxy_addr:5"}},
		{"socket path", rule(decision.QueryRule{ProxyAddr: "/run/my_sql.sock"}), nil},
		{"digests", &decision.Config{QueryRules: []decision.QueryRule{
			{RuleID: 1, Digest: "0"}, {RuleID: 2, Digest: "0x1FFFFFFFFFFFFFFFF"}, {RuleID: 3, Digest: "12x"}, {RuleID: 4, Digest: "0xFF"}, {RuleID: 5, Digest: "18446744073709551615"},
		}}, []string{"bad_digest@query_rules[0].digest", "bad_digest@query_rules[1].digest", "bad_digest@query_rules[2].digest"}},
		{"digests off", &decision.Config{
			Settings:   decision.Settings{QueryDigests: new(bool)},
			QueryRules: []decision.QueryRule{{RuleID: 1, Digest: "0xFF"}, {RuleID: 2, MatchDigest: new("a")}, {RuleID: 3, MatchPattern: new("a")}},
		}, []string{"?digests_off@query_rules[0]", "?digests_off@query_rules[1]"}},
		{"negated bad regex", rule(decision.QueryRule{MatchPattern: new("a(b"), NegateMatchPattern: true}), []string{"regex_syntax@query_rules[0].match_pattern:*"}},
		{"inactive bad regex", rule(decision.QueryRule{Active: new(false), MatchPattern: new("a(b")}), []string{"?regex_syntax@query_rules[0].match_pattern:*"}},
		{"look-ahead", rule(decision.QueryRule{MatchPattern: new("a(?=b)")}), []string{"?regex_backtracking@query_rules[0].match_pattern"}},
		{"replacement", rule(decision.QueryRule{MatchPattern: new("a"), ReplacePattern: new(`ab\x`)}), []string{"bad_replacement@query_rules[0].replace_pattern:*"}},
		{"empty expression and replacement", rule(decision.QueryRule{MatchPattern: new(""), ReplacePattern: new("")}), nil},
		{"attributes", &decision.Config{QueryRules: []decision.QueryRule{
			{RuleID: 1, Attributes: "{"},
			{RuleID: 2, Attributes: "[]"},
			{RuleID: 3, Attributes: "{}"},
			{RuleID: 4, Attributes: `{"flagOUTs":[]}`},
			{RuleID: 5, Attributes: `{"flagOUTs":{}}`},
			{RuleID: 6, Attributes: `{"x":{"y":[1]}, "flagOUTs": [ {"id":1,"weight":0}, {"id":"1","weight":1}, 3 ,{"id":-1,"weight":1},{"id":1,"weight":1.5}]}`},
			{RuleID: 7, Attributes: `{} x`},
			{RuleID: 8, Attributes: `{"flagOUTs":null}`},
		}}, []string{
			"attributes_json@query_rules[0].attributes:0", "attributes_json@query_rules[1].attributes:0", "bad_flagouts@query_rules[4].attributes:12",
			"bad_flagouts@query_rules[5].attributes:51", "bad_flagouts@query_rules[5].attributes:74", "bad_flagouts@query_rules[5].attributes:77",
			"bad_flagouts@query_rules[5].attributes:98", "attributes_json@query_rules[6].attributes:3", "bad_flagouts@query_rules[7].attributes:12",
		}},
		{"fast routes", &decision.Config{FastRoutes: []decision.FastRoute{
			{Username: "a", Schemaname: "s"},
			{Username: "a", Schemaname: "s", FlagIn: 1},
			{Username: "a", Schemaname: "s", DestinationHostgroup: 4},
			{FlagIn: -1, DestinationHostgroup: -1},
		}}, []string{
			"duplicate_key@fast_routes[2]", "out_of_range@fast_routes[3].flag_in", "out_of_range@fast_routes[3].destination_hostgroup",
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g, problems := decision.Compile(1, c.cfg)
			if (g == nil) != problems.HasErrors() {
				t.Errorf("generation %v with %v", g, problems)
			}
			var got []string
			for i, p := range problems {
				at := fmt.Sprintf("%s@%s", p.Code, p.Path)
				if p.Severity == decision.Warning {
					at = "?" + at
				}
				if i < len(c.want) && strings.HasSuffix(c.want[i], ":*") {
					if p.Position < 0 {
						t.Errorf("no position: %+v", p)
					}
					at += ":*"
				} else if p.Position >= 0 {
					at += fmt.Sprintf(":%d", p.Position)
				}
				got = append(got, at)
				if len(p.Message) < 20 {
					t.Errorf("short message %q", p.Message)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q\n%s", got, c.want, show(problems))
			}
		})
	}
}

// TestResolved looks at the defaults.
func TestResolved(t *testing.T) {
	g := mustCompile(t, &decision.Config{
		Hostgroups: []decision.Hostgroup{{HostgroupID: 9}},
		Servers:    []decision.Server{{HostgroupID: 3, Hostname: "db1", Status: new("offline_soft")}},
		Users: []decision.User{
			{Username: "off", Active: new(false), DefaultHostgroup: 3}, {Username: "app", DefaultHostgroup: 3},
		},
	})
	if s := g.Settings(); *s.QueryDigestsMaxDigestLength != 2048 || *s.DefaultSchema != "information_schema" || !*s.QueryDigests {
		t.Errorf("settings %+v", s)
	}
	if users := g.Users(); len(users) != 1 || *users[0].MaxConnections != 10000 || !*users[0].TransactionPersistent || users[0].BackendUsername != "app" {
		t.Errorf("users %+v", users)
	}
	if u, ok := g.User("app"); !ok || u.Username != "app" {
		t.Errorf("user %+v", u)
	}
	if _, ok := g.User("off"); ok {
		t.Error("an inactive user is there")
	}
	if s := g.Servers(); len(s) != 1 || *s[0].Port != 3306 || *s[0].Weight != 1 || *s[0].MaxConnections != 1000 || *s[0].Status != "OFFLINE_SOFT" {
		t.Errorf("servers %+v", s)
	}
	if h := g.Hostgroups(); len(h) != 2 || h[0].HostgroupID != 3 || h[1].HostgroupID != 9 || *h[0].MaxNumOnlineServers != 1000000 {
		t.Errorf("hostgroups %+v", h)
	}
	if g.Number() != 1 || g.DigestOptions().GroupingLimit != 3 {
		t.Errorf("number %d, digest options %+v", g.Number(), g.DigestOptions())
	}
}

// TestCompileKeepsConfig checks that filling defaults leaves the configuration alone.
func TestCompileKeepsConfig(t *testing.T) {
	status := "offline_soft"
	cfg := &decision.Config{Servers: []decision.Server{{Hostname: "db1", Status: &status}}, Users: []decision.User{{Username: "app"}}}
	mustCompile(t, cfg)
	if status != "offline_soft" || cfg.Servers[0].Port != nil || cfg.Users[0].Active != nil || cfg.Settings.QueryDigests != nil {
		t.Errorf("changed: %+v", cfg)
	}
}

func TestManyFastRoutes(t *testing.T) {
	cfg := &decision.Config{Users: []decision.User{{Username: "app", DefaultHostgroup: 1}}}
	for i := range 100_000 {
		cfg.FastRoutes = append(cfg.FastRoutes, decision.FastRoute{
			Username: "app", Schemaname: fmt.Sprintf("tenant_%d", i), DestinationHostgroup: int64(i),
		})
	}
	g := mustCompile(t, cfg)
	for _, i := range []int32{0, 1, 50_000, 99_999} {
		q := question("app", "SELECT 1")
		q.Session.Schemaname = fmt.Sprintf("tenant_%d", i)
		if a := route(t, g, q); a.DestinationHostgroup != i || a.Reason != decision.ReasonFastRoute {
			t.Errorf("%s: %+v", q.Session.Schemaname, a)
		}
	}
}
