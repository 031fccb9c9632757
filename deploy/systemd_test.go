package deploy

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestSystemdUnits lets systemd read the units. It looks for the program as well, so a copy has one that is there.
func TestSystemdUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed: needs Debian's systemd")
	}
	units, err := filepath.Glob("systemd/*.service")
	if err != nil || len(units) != 2 {
		t.Fatalf("units are %q, %v; want two", units, err)
	}
	program := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/(\S+)`)
	for _, unit := range units {
		raw, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(unit)
		if m := program.FindSubmatch(raw); m == nil || string(m[1])+".service" != name {
			t.Errorf("%s does not start its program: %q", name, m)
		}
		copied := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(copied, program.ReplaceAll(raw, []byte("ExecStart=/bin/true")), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), analyze, "verify", copied).CombinedOutput()
		// It warns of unknown settings and succeeds all the same.
		if err != nil || bytes.Contains(out, []byte(name)) {
			t.Errorf("systemd-analyze verify %s: %v\n%s", name, err, out)
		}
	}
}
