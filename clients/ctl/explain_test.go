package ctl_test

import (
	"bytes"
	"flag"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/pointsman/pointsman/clients/document"
	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/live"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/api"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/metrics"
	"github.com/pointsman/pointsman/server/observed"
	"github.com/pointsman/pointsman/server/state"
	"github.com/pointsman/pointsman/server/translate"
)

var updateExplain = flag.Bool("update-explain", false, "rewrite testdata/explain")

// TestExplainGolden runs the command lines of testdata/explain/golden.txt, each of which begins with "$ ", and compares
// what they print.
func TestExplainGolden(t *testing.T) {
	t.Chdir(filepath.Join("testdata", "explain"))
	golden, err := os.ReadFile("golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	var rewritten bytes.Buffer
	for example := range strings.SplitSeq(strings.TrimPrefix(string(golden), "$ "), "\n$ ") {
		command, want, _ := strings.Cut(example, "\n")
		args := append([]string{"explain", "--config", "config.yaml"}, shellWords(t, command)...)
		_, out, errs := run(t, "", args...)
		out += errs
		rewritten.WriteString("$ " + command + "\n" + out)
		if want = strings.TrimSuffix(want, "\n"); strings.TrimSuffix(out, "\n") != want && !*updateExplain {
			t.Errorf("$ %s\n%s\nwant\n%s", command, out, want)
		}
	}
	if *updateExplain {
		if err := os.WriteFile("golden.txt", rewritten.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// serve serves a configuration and gives the address.
func serve(t *testing.T, configPath string) string {
	t.Helper()
	text, err := os.ReadFile(configPath)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := document.ToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	cfg := &configv1.Config{}
	if err := protojson.Unmarshal(doc, cfg); err != nil {
		t.Fatal(err)
	}
	core, problems := decision.Compile(1, translate.ConfigFromProto(cfg))
	if core == nil {
		t.Fatal(problems)
	}
	holder := &live.Holder[loaded.Generation]{}
	holder.Swap(1, &loaded.Generation{Number: 1, Core: core})
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	m, log := metrics.New("test"), slog.New(slog.DiscardHandler)
	decisionv1.RegisterDecisionServiceServer(server, api.NewDecision(holder, &observed.Holder{}, state.NewHolder(m, log), m, log, nil))
	healths := health.NewServer()
	healths.SetServingStatus("pointsman.decision.v1.DecisionService", healthv1.HealthCheckResponse_SERVING)
	healthv1.RegisterHealthServer(server, healths)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

// TestExplainByServer wants a server to explain as the file does that it runs.
func TestExplainByServer(t *testing.T) {
	path := filepath.Join("testdata", "explain", "config.yaml")
	addr := serve(t, path)
	for _, output := range []string{"text", "json"} {
		for _, sql := range []string{"SELECT * FROM orders WHERE id = 7", "DROP TABLE t", "/* hostgroup=30 */ UPDATE t SET a = 1"} {
			args := []string{"explain", "--user", "app", "-o", output, sql}
			_, offline, _ := run(t, "", append(args, "--config", path)...)
			code, served, errs := run(t, "", append(args, "--server", addr)...)
			if code != 0 || served != offline || served == "" {
				t.Errorf("%q: code %d, stderr %q\n%s\noffline\n%s", sql, code, errs, served, offline)
			}
		}
	}
	if code, out, errs := run(t, "", "explain", "--user", "nobody", "--server", addr, "SELECT 1"); code != 2 || out != "" || !strings.Contains(errs, "session.username") {
		t.Errorf("unknown user: code %d, %q, %q", code, out, errs)
	}
}

func TestExplainJSON(t *testing.T) {
	code, out, errs := run(t, "", "explain", "--config", filepath.Join("testdata", "explain", "config.yaml"), "--user", "app", "-o", "json", "INSERT INTO t VALUES ('secret')")
	x := &decisionv1.ExplainStatementResponse{}
	if err := protojson.Unmarshal([]byte(out), x); code != 0 || err != nil {
		t.Fatalf("code %d, %v\n%s%s", code, err, out, errs)
	}
	if x.GetAnswer().GetDestinationHostgroup() != 10 || x.GetMirror() == nil || len(x.GetWalk().GetSteps()) == 0 || x.GetSummary() == "" {
		t.Errorf("%s", out)
	}
}

func TestExplainFromFile(t *testing.T) {
	config := filepath.Join("testdata", "explain", "config.yaml")
	statement := filepath.Join(t.TempDir(), "statement.sql")
	if err := os.WriteFile(statement, []byte("SELECT '\xff'"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, want, _ := run(t, "SELECT '\xff'", "explain", "--config", config, "--user", "app", "--text-file", "-")
	code, out, errs := run(t, "", "explain", "--config", config, "--user", "app", "--text-file", statement)
	if code != 0 || out != want || !strings.Contains(out, "hostgroup 20") {
		t.Errorf("code %d, %q\n%s\nstandard input\n%s", code, errs, out, want)
	}
	for want, args := range map[string][]string{
		"no statement given":              {},
		"there can be none in the argum":  {"--text-file", statement, "SELECT 1"},
		"read the statement: open":        {"--text-file", statement + "x"},
		"none of query, prepare, execute": {"--command", "unspecified", "SELECT 1"},
	} {
		args = append([]string{"explain", "--config", config, "--user", "app"}, args...)
		if code, out, errs := run(t, "", args...); code != 2 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%q: code %d, %q, %q", args, code, out, errs)
		}
	}
}

const addresses = `users: [{username: app, password: secret, default_hostgroup: 10}]
query_rules:
  - {rule_id: 5, client_addr: 10.99.%, error_msg: no guests, apply: true}
  - {rule_id: 6, proxy_addr: 10.0.0.1, timeout: 5}
  - {rule_id: 7, attributes: '{"flagOUTs":[{"id":8,"weight":1},{"id":9,"weight":1}]}'}
`

// TestExplainUnknownAddress wants a rule that matches for want of an address to say so.
func TestExplainUnknownAddress(t *testing.T) {
	config := file(t, addresses)
	explain := func(args ...string) string {
		code, out, errs := run(t, "", append([]string{"explain", "--config", config, "--user", "app"}, args...)...)
		if code != 0 {
			t.Errorf("%q: code %d, %s", args, code, errs)
		}
		return out
	}
	for _, tt := range []struct {
		args     string
		has, not string
	}{
		{"", "YES  client_addr 10.99.% (the address is unknown, so it passes: --client-addr)\n", "proxy"},
		{"", "flag 0, client address unknown\n", "proxy"},
		{"--client-addr 10.99.1.1", "YES  client_addr 10.99.%\n", "unknown"},
		{"--client-addr 10.1.1.1", "YES  proxy_addr 10.0.0.1 (the address is unknown, so it passes: --proxy-addr)\n", "client address unknown"},
		{"--client-addr 10.1.1.1", "flag 0, proxy address unknown\n", "so it passes: --client-addr"},
		{"--client-addr 10.1.1.1 --proxy-addr 10.0.0.1", "YES  proxy_addr 10.0.0.1\n", "unknown"},
	} {
		if out := explain(append(strings.Fields(tt.args), "SELECT 1")...); !strings.Contains(out, tt.has) || strings.Contains(out, tt.not) {
			t.Errorf("%s\n%s\nwant %q, not %q", tt.args, out, tt.has, tt.not)
		}
	}
	for range 5 {
		if out := explain("--client-addr", "10.1.1.1", "--seed", "1", "SELECT 1"); !strings.Contains(out, "flag becomes 9 (drawn by weight)") {
			t.Errorf("seed 1\n%s", out)
		}
	}
}

// TestNothingForTerminals wants what does things to a terminal to be escaped, wherever it comes from.
func TestNothingForTerminals(t *testing.T) {
	for _, args := range [][]string{
		{"digest", "SELECT `\x1b]0;x\x07\u202e`"},
		{"digest", "SELECT `\xff`"},
		{"validate", file(t, `{"query_rules": [{"\u001b[31m": 1, "\u202e": 2}]}`)},
		{"lint", file(t, `{"\u001b[31m": 1}`)},
		{"route", "--config", file(t, addresses), "--user", "app", "--client-addr", "10.1.1.1", "SELECT `\x1b\u202e`"},
		{"select", "\x1b[31m"},
	} {
		_, out, errs := run(t, "", args...)
		if out+errs == "" || !utf8.ValidString(out+errs) || strings.ContainsAny(out+errs, "\x1b\x07\u202e") {
			t.Errorf("%q: %q, %q", args, out, errs)
		}
	}
}
