package gateway

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"

	"github.com/pointsman/pointsman/gateway/session"
)

func TestAdminPages(t *testing.T) {
	d := &decisions{server: startDatabase(t)}
	d.generation.Store(7)
	addr, _ := startDecisions(t, d)
	p := start(t, "--decision="+addr, "--tags={\"zone\":\"a\"}")
	p.expectReady(t, http.StatusOK, "ready")
	b := p.mustLogin(t)
	exec(t, b, "BEGIN")
	exec(t, b, "UPDATE t SET a = 'hidden'")

	status, index := p.get(t, "/")
	if status != http.StatusOK {
		t.Errorf("index: %d", status)
	}
	for _, page := range pages {
		if !strings.Contains(index, page[0]) {
			t.Errorf("%s is not in the index", page[0])
		}
		if status, _ := p.get(t, page[0]); status != http.StatusOK {
			t.Errorf("%s: %d", page[0], status)
		}
	}
	if status, _ := p.get(t, "/nothing"); status != http.StatusNotFound {
		t.Errorf("unknown page: %d", status)
	}

	var list []session.Info
	eventually(t, "session in its transaction", func() bool {
		_, body := p.get(t, "/sessions?user=app&hostgroup=1&state="+url.QueryEscape("in transaction"))
		return json.Unmarshal([]byte(body), &list) == nil && len(list) == 1
	})
	if s := list[0]; s.Server == "" || s.DigestText != "UPDATE t SET a = ?" || !strings.HasPrefix(s.Digest, "0x") || s.Listener != "default" {
		t.Errorf("%+v", s)
	}
	if _, body := p.get(t, "/sessions?user=other"); strings.TrimSpace(body) != "[]" {
		t.Errorf("sessions of another user: %s", body)
	}
	_, text := p.get(t, "/sessions?format=text")
	if lines := strings.Split(strings.TrimSpace(text), "\n"); len(lines) != 2 || !strings.HasPrefix(lines[0], "ID ") || !strings.Contains(lines[1], "UPDATE t SET a = ?") {
		t.Errorf("table:\n%s", text)
	}
	for query, want := range map[string]string{
		"hostgroup=x": "hostgroup=x: it is a number", "state=asleep": "the states are login, idle", "format=xml": "it is json or text", "usr=app": "usr: known are",
	} {
		if status, body := p.get(t, "/sessions?"+query); status != http.StatusBadRequest || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}

	var servers []session.PoolServer
	if _, body := p.get(t, "/pool"); json.Unmarshal([]byte(body), &servers) != nil || len(servers) != 1 || servers[0].Used != 1 || servers[0].Hostgroup != 1 || !servers[0].Online {
		t.Errorf("pool: %s", body)
	}
	if _, text := p.get(t, "/pool?format=text"); !strings.Contains(text, servers[0].Server) || !strings.HasPrefix(text, "HG ") {
		t.Errorf("table:\n%s", text)
	}
	for _, query := range []string{"format=xml", "user=app"} {
		if status, body := p.get(t, "/pool?"+query); status != http.StatusBadRequest || !strings.Contains(body, "format") {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}

	_, text = p.get(t, "/config")
	var shown struct {
		Flags         map[string]string
		Generation    uint64
		Listeners     []struct{ Name string }
		Decision      decisionState
		Configuration struct {
			Users struct {
				Users []struct{ Username, Password string }
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &shown); err != nil {
		t.Fatal(err)
	}
	if shown.Flags["tags"] != `{"zone":"a"}` || shown.Flags["max-connections"] != "10000" || shown.Generation != 7 || len(shown.Listeners) != 1 || !shown.Decision.Up ||
		shown.Configuration.Users.Users[0].Username != "app" || shown.Configuration.Users.Users[0].Password != "clear text" || strings.Contains(text, "secret") {
		t.Errorf("configuration:\n%s", text)
	}
	_, metrics := p.get(t, "/metrics")
	for _, want := range []string{
		`pointsman_gateway_client_bytes_total{direction="sent"}`, "pointsman_gateway_added_seconds_count 2", "pointsman_gateway_decision_seconds_count",
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	p.signals <- syscall.SIGTERM
	p.signals <- syscall.SIGTERM
	p.expectExit(t)
}
