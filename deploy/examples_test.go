package deploy

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/clients/ctl"
)

// pointsmanctl runs the command-line tool and gives its exit code and output.
func pointsmanctl(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = ctl.Main(t.Context(), "test", args, ctl.IO{
		In: strings.NewReader(""), Out: &stdout, Err: &stderr,
		Getenv: func(string) string { return "" },
	})
	if stderr.Len() > 0 {
		t.Errorf("pointsmanctl %q says %s", args, stderr.String())
	}
	return code, stdout.String()
}

func TestConfigurationsHaveNoProblems(t *testing.T) {
	for _, file := range []string{"examples/config.yaml", "quickstart/split.yaml"} {
		if code, out := pointsmanctl(t, "validate", file); code != 0 || strings.TrimSpace(out) != "no problems" {
			t.Errorf("validate %s: exit code %d\n%s", file, code, out)
		}
	}
}

// TestConfigurationsRoute holds the configurations to what their comments promise.
func TestConfigurationsRoute(t *testing.T) {
	const example, split = "examples/config.yaml", "quickstart/split.yaml"
	for _, c := range []struct {
		config, user, schema, addr, sql string
		want                            map[string]any
	}{
		{config: split, user: "demo", sql: "SELECT @@server_id", want: map[string]any{"destination_hostgroup": 20.0}},
		{config: split, user: "demo", sql: "SELECT @@server_id FOR UPDATE", want: map[string]any{"destination_hostgroup": 10.0}},
		{config: split, user: "demo", sql: "select * from notes lock in share mode", want: map[string]any{"destination_hostgroup": 10.0}},
		{config: split, user: "demo", sql: "SELECT * FROM notes FOR SHARE SKIP LOCKED", want: map[string]any{"destination_hostgroup": 10.0}},
		{config: split, user: "demo", sql: "INSERT INTO notes (text) VALUES ('SELECT')", want: map[string]any{"destination_hostgroup": 10.0}},
		{config: split, user: "demo", sql: "BEGIN", want: map[string]any{"destination_hostgroup": 10.0}},

		{config: example, user: "shop", sql: "SELECT 1", want: map[string]any{"destination_hostgroup": 20.0}},
		{config: example, user: "shop", sql: "UPDATE t SET a = 1", want: map[string]any{"destination_hostgroup": 10.0}},
		{config: example, user: "shop", sql: "SELECT GET_LOCK('x', 1)", want: map[string]any{"destination_hostgroup": 10.0}},
		{config: example, user: "shop", sql: "SELECT * FROM articles ORDER BY id DESC LIMIT 20", want: map[string]any{
			"destination_hostgroup": 20.0, "timeout_ms": 2000.0, "retries": 2.0,
		}},
		{config: example, user: "shop", addr: "10.2.3.4", sql: "DROP TABLE t", want: map[string]any{
			"reason": "REASON_ANSWERED", "error_msg": "DROP and TRUNCATE are not for application servers",
		}},
		{config: example, user: "shop", addr: "10.3.3.4", sql: "DROP TABLE t", want: map[string]any{"destination_hostgroup": 10.0}},
		{config: example, user: "shop", sql: "SELECT id FROM old_orders WHERE a = 1", want: map[string]any{
			"destination_hostgroup": 20.0, "rewritten_text": "SELECT id FROM orders WHERE a = 1",
		}},
		{config: example, user: "shop", schema: "archive", sql: "DELETE FROM t", want: map[string]any{
			"destination_hostgroup": 30.0, "reason": "REASON_FAST_ROUTE",
		}},
		{config: example, user: "reports", sql: "DELETE FROM t", want: map[string]any{"error_msg": "the report user may only read"}},
		{config: example, user: "shop", sql: "/* hostgroup=30 */ SELECT 1", want: map[string]any{"destination_hostgroup": 30.0}},
	} {
		args := []string{"route", "--config", c.config, "--user", c.user, "--schema", c.schema, "--client-addr", c.addr, "-o", "json", c.sql}
		code, out := pointsmanctl(t, args...)
		var got map[string]any
		if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
			t.Errorf("%s: %s: exit code %d, %v\n%s", c.config, c.sql, code, err, out)
			continue
		}
		for field, want := range c.want {
			if got[field] != want {
				t.Errorf("%s: %s: %s is %v, want %v", c.config, c.sql, field, got[field], want)
			}
		}
	}
}
