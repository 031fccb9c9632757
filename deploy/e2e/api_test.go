package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestGrpcurl calls the API as people do who have no proto files.
func TestGrpcurl(t *testing.T) {
	t.Parallel()
	buildGrpcurl(t)
	p := newPointsman(t)
	call := func(method, request string) (reply map[string]any, refusal string) {
		t.Helper()
		stdout, stderr, code := run(t, []byte(request), "grpcurl", "-plaintext", "-d", "@", p.address, method)
		if code != 0 {
			return nil, stderr
		}
		if err := json.Unmarshal([]byte(stdout), &reply); err != nil {
			t.Fatalf("%s: %v\n%s", method, err, stdout)
		}
		return reply, ""
	}
	want := func(method, request string, wanted map[string]any) {
		t.Helper()
		got, refusal := call(method, request)
		for _, field := range slices.Sorted(maps.Keys(wanted)) {
			if fmt.Sprint(got[field]) != fmt.Sprint(wanted[field]) {
				t.Errorf("%s %s: %s is %v, want %v\n%v%s", method, request, field, got[field], wanted[field], got, refusal)
			}
		}
	}
	wantRefusal := func(method, request string, words ...string) {
		t.Helper()
		got, refusal := call(method, request)
		for _, word := range words {
			if !strings.Contains(refusal, word) {
				t.Errorf("%s %s: %v, no %q in the refusal:\n%s", method, request, got, word, refusal)
			}
		}
	}
	stdout, stderr, code := run(t, nil, "grpcurl", "-plaintext", p.address, "list")
	services := strings.Fields(stdout)
	for _, service := range []string{"grpc.health.v1.Health", "pointsman.config.v1.ConfigService", "pointsman.decision.v1.DecisionService"} {
		if !slices.Contains(services, service) {
			t.Errorf("grpcurl list: exit status %d, no %s in\n%s%s", code, service, stdout, stderr)
		}
	}

	const (
		routeMethod   = "pointsman.decision.v1.DecisionService/RouteStatement"
		selectMethod  = "pointsman.decision.v1.DecisionService/SelectServer"
		publishMethod = "pointsman.config.v1.ConfigService/PublishConfig"
		healthMethod  = "grpc.health.v1.Health/Check"
		statement     = `{"session": {"username": "app", "schemaname": "shop"}, "statement": {"text": "SELECT * FROM orders WHERE id = 7"}}`
	)
	want(healthMethod, `{}`, map[string]any{"status": "NOT_SERVING"})
	want(healthMethod, `{"service": "pointsman.config.v1.ConfigService"}`, map[string]any{"status": "SERVING"})
	wantRefusal(routeMethod, statement, "Unavailable", "NO_GENERATION")
	want(selectMethod, `{"candidates": {"candidates": [{"weight": 0}, {"status": "SHUNNED"}, {}]}, "seed": "1"}`, map[string]any{"index": 2})

	want(publishMethod, `{"config": {
		"servers": [{"hostgroup_id": 10, "hostname": "db1"}, {"hostgroup_id": 20, "hostname": "db2"}, {"hostgroup_id": 20, "hostname": "db3", "weight": 0}],
		"users": [{"username": "app", "password": "x", "default_hostgroup": 10}],
		"query_rules": [{"rule_id": 1, "match_digest": "^SELECT", "destination_hostgroup": 20, "apply": true}]
	}, "expected_generation": "0", "author": "me", "note": "first"}`, map[string]any{"generation": "1"})
	p.awaitHealth(t, "")
	want(routeMethod, statement, map[string]any{
		"generation": "1", "destinationHostgroup": 20, "reason": "REASON_RULE", "matchedRules": "[1]",
		"digestText": "SELECT * FROM orders WHERE id = ?", "cacheScope": "CACHE_SCOPE_DIGEST",
	})
	want(routeMethod, `{"session": {"username": "app"}, "statement": {"text": "DELETE FROM orders"}}`, map[string]any{
		"destinationHostgroup": 10, "reason": "REASON_DEFAULT_HOSTGROUP",
	})
	want(selectMethod, `{"hostgroup": 20}`, map[string]any{"generation": "1", "index": nil, "eligible": 1})
	got, refusal := call(selectMethod, `{"hostgroup": 20}`)
	if host, ok := got["server"].(map[string]any); !ok || host["hostname"] != "db2" {
		t.Errorf("SelectServer of hostgroup 20: %v%s, want db2", got, refusal)
	}
	wantRefusal(routeMethod, `{"session": {"username": "nobody"}, "statement": {"text": "SELECT 1"}}`, "InvalidArgument", "session.username")
	wantRefusal(publishMethod, `{"config": {"query_rules": [{"rule_id": 1, "match_digest": "("}]}}`, "InvalidArgument", "regex_syntax")
	wantRefusal(publishMethod, `{"config": {}, "expected_generation": "7"}`, "FailedPrecondition", "GENERATION_CONFLICT")
}

var grpcurl sync.Once

// buildGrpcurl puts the project's grpcurl in bin.
func buildGrpcurl(t *testing.T) {
	t.Helper()
	grpcurl.Do(func() {
		if err := goTool("build", "-modfile=tools.mod", "-o", filepath.Join(bin, "grpcurl"), "github.com/fullstorydev/grpcurl/cmd/grpcurl"); err != nil {
			t.Fatal(err)
		}
	})
}

// TestReadme runs the README's calls of grpcurl as they stand there, on a server with the quick start's configuration.
func TestReadme(t *testing.T) {
	t.Parallel()
	const (
		tool    = "go tool -modfile=tools.mod grpcurl"
		address = "127.0.0.1:7080"
	)
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
		if strings.HasPrefix(line, tool) {
			calls = append(calls, line)
		}
	}
	for _, method := range []string{"RouteStatement", "SelectServer", "PublishConfig"} {
		if !slices.ContainsFunc(calls, func(call string) bool { return strings.Contains(call, "Service/"+method) }) {
			t.Errorf("the README has no call of %s", method)
		}
	}
	buildGrpcurl(t)
	p := newPointsman(t)
	p.publish(t, filepath.Join("..", "quickstart", "split.yaml"))
	for _, call := range calls {
		call = strings.NewReplacer(tool, filepath.Join(bin, "grpcurl"), address, p.address).Replace(call)
		if stdout, stderr, code := run(t, nil, "bash", "-c", call); code != 0 || !strings.Contains(stdout, `"generation": "`) {
			t.Errorf("%sexit status %d\n%s%s", call, code, stdout, stderr)
		}
	}
}

// TestMistakes publishes a configuration with ten mistakes: all are told at once, and the generation in force stays.
func TestMistakes(t *testing.T) {
	t.Parallel()
	p := newPointsman(t)
	good := filepath.Join("testdata", "good.yaml")
	p.publish(t, good)
	const before = "generation 1, hostgroup 20, REASON_RULE"
	type problem struct {
		RuleID                        int `json:"rule_id"`
		Path, Code, Severity, Message string
	}
	want := map[string]string{
		"query_rules[0].match_digest":    "regex_syntax",
		"query_rules[1].digest":          "bad_digest",
		"query_rules[2].client_addr":     "bad_client_addr",
		"query_rules[3].re_modifiers":    "unknown_modifier",
		"query_rules[4].replace_pattern": "replace_without_pattern",
		"users[0].default_hostgroup":     "unknown_hostgroup",
		"query_rules[5].rule_id":         "duplicate_key",
		"query_rules[6].attributes":      "attributes_json",
		"servers[1].weight":              "out_of_range",
		"query_rules[7].replace_pattern": "bad_replacement",
	}
	mistakes := filepath.Join("testdata", "mistakes.yaml")
	for _, verb := range [][]string{{"publish", mistakes}, {"validate", mistakes}} {
		for _, offline := range []bool{false, true} {
			if offline && verb[0] == "publish" {
				continue
			}
			args := append(slices.Clone(verb), "-o", "json")
			if !offline {
				args = append([]string{"--server", p.address}, args...)
			}
			stdout, stderr, code := run(t, nil, "pointsmanctl", args...)
			var answer struct{ Problems []problem }
			if err := json.Unmarshal([]byte(stdout), &answer); err != nil || code != 1 {
				t.Errorf("%v: exit status %d, %v\n%s%s", args, code, err, stdout, stderr)
				continue
			}
			got := map[string]string{}
			for _, found := range answer.Problems {
				if found.Severity == "error" {
					got[found.Path] = found.Code
				}
				if len(found.Message) < 20 || !strings.ContainsAny(found.Message, ",;.:") {
					t.Errorf("%v: %s has no remedy: %s", args, found.Path, found.Message)
				}
			}
			if !maps.Equal(got, want) {
				t.Errorf("%v found\n%v, want\n%v", args, answer.Problems, want)
			}
		}
	}
	if got := p.route(t, schema, "SELECT 1"); got != before {
		t.Errorf("decision afterwards: %s, want %s", got, before)
	}
	if got := p.publish(t, good, "--expected-generation", "1"); got != 2 {
		t.Errorf("publish afterwards: generation %d, want 2", got)
	}
}

// TestFastRoutes publishes more than one request to etcd may hold.
func TestFastRoutes(t *testing.T) {
	t.Parallel()
	const n = 100_000
	type route struct {
		Username    string `json:"username"`
		Schemaname  string `json:"schemaname"`
		Destination int    `json:"destination_hostgroup"`
		Comment     string `json:"comment"`
	}
	routes := make([]route, n)
	for i := range routes {
		routes[i] = route{appUser, fmt.Sprintf("tenant_%06d", i), i % 1000, fmt.Sprintf("shard %d of the tenant %d", i%1000, i)}
	}
	text, err := json.Marshal(map[string]any{
		"users":       []map[string]any{{"username": appUser, "password": password, "default_hostgroup": 7}},
		"fast_routes": routes,
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "routes.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	p := newPointsman(t)
	if got := p.publish(t, file); got != 1 {
		t.Errorf("publish: generation %d, want 1", got)
	}
	for schema, want := range map[string]string{
		"tenant_000000": "generation 1, hostgroup 0, REASON_FAST_ROUTE",
		"tenant_064321": "generation 1, hostgroup 321, REASON_FAST_ROUTE",
		"tenant_099999": "generation 1, hostgroup 999, REASON_FAST_ROUTE",
		"tenant_100000": "generation 1, hostgroup 7, REASON_DEFAULT_HOSTGROUP",
	} {
		if got := p.route(t, schema, "UPDATE t SET a = 1"); got != want {
			t.Errorf("schema %s: %s, want %s", schema, got, want)
		}
	}
	// And after a restart, from the store or the copy on disk.
	p.kill(t)
	p.start(t)
	p.awaitHealth(t, "")
	if got, want := p.route(t, "tenant_064321", "UPDATE t SET a = 1"), "generation 1, hostgroup 321, REASON_FAST_ROUTE"; got != want {
		t.Errorf("after a restart: %s, want %s", got, want)
	}
}

// TestEtcd keeps generations in an etcd of someone else, which two servers share.
func TestEtcd(t *testing.T) {
	t.Parallel()
	if err := goTool("build", "-o", filepath.Join(bin, "etcd"), "go.etcd.io/etcd/server/v3"); err != nil {
		t.Fatal(err)
	}
	client, peer := "http://"+freeAddress(t), "http://"+freeAddress(t)
	etcd := start(t, "etcd", "--data-dir", t.TempDir(), "--log-level", "error",
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer)
	t.Cleanup(func() { etcd.kill(t) }) // It ends itself by the signal that it gets.
	flags := []string{"--store", "etcd", "--etcd-endpoints", client, "--etcd-prefix", "/somewhere/pointsman"}
	a, b := newPointsman(t, flags...), newPointsman(t, flags...)
	if got := a.publish(t, filepath.Join("testdata", "good.yaml")); got != 1 {
		t.Errorf("publish: generation %d, want 1", got)
	}
	const want = "generation 1, hostgroup 20, REASON_RULE"
	for _, p := range []*pointsman{a, b} {
		p.awaitHealth(t, "")
		if got := p.route(t, schema, "SELECT 1"); got != want {
			t.Errorf("decision: %s, want %s", got, want)
		}
		if pids := children(t, p.pid()); len(pids) != 0 {
			t.Errorf("a server with an etcd of someone else has child processes %v", pids)
		}
	}
	b.stop(t)
	if got := a.publish(t, filepath.Join("testdata", "good.yaml")); got != 2 {
		t.Errorf("publish: generation %d, want 2", got)
	}
	b.start(t, flags...)
	eventually(t, "the other server follows", patience, func() (bool, string) {
		got := b.route(t, schema, "SELECT 1")
		return got == strings.Replace(want, "1", "2", 1), got
	})
}
