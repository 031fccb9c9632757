package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// endOfScript is the last line that a client's script prints.
const endOfScript = "end of script"

// client runs its script against a server or a gateway and gives what came out.
type client struct {
	name string
	need func(*testing.T)
	run  func(t *testing.T, host, port string) string
}

// clients use types, NULLs, binary data, values of 20 MB, several results, errors, prepared statements, transactions and,
// where they have it, a change of user and a reset. Reads of the table fixed go to the replica, all else to the primary,
// so that a session has to take its state along. There are no columns of type JSON: MariaDB calls those text, but for clients
// that it can tell more in its own extension of the protocol, which the gateway does not speak.
var clients = []client{
	{"mariadb", needProgram("mariadb"), mariadbScript},
	{"go-sql-driver", func(*testing.T) {}, goScript},
	{"PyMySQL", func(t *testing.T) {
		t.Helper()
		need(t, "PyMySQL of /usr/bin/python3", exec.CommandContext(t.Context(), debianPython, "-c", "import pymysql").Run() == nil)
	}, pythonScript},
	{"mysql2", func(t *testing.T) {
		t.Helper()
		needProgram("node")(t)
		need(t, "mysql2 of testdata/node", fileExists(filepath.Join("testdata", "node", "node_modules", "mysql2")))
	}, nodeScript},
}

func needProgram(name string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		need(t, name, found(name))
	}
}

// TestClients: real clients see the same through the gateway and directly.
func (d *databases) TestClients(t *testing.T) {
	f := newFleet(t, d)
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			c.need(t)
			d.clean(t)
			direct := runScript(t, c, d.primary.Addr)
			d.clean(t)
			reads := replicaReads(t, f.gateway)
			through := runScript(t, c, f.gateway.address)
			compare(t, direct, through)
			if got := replicaReads(t, f.gateway); got <= reads {
				t.Error("no statement of the script went to the replica")
			}
		})
	}
}

func runScript(t *testing.T, c client, address string) []string {
	t.Helper()
	host, port, _ := strings.Cut(address, ":")
	lines := strings.Split(strings.TrimRight(c.run(t, host, port), "\n"), "\n")
	if last := lines[len(lines)-1]; last != endOfScript {
		t.Fatalf("the script at %s does not come to its end; its last lines:\n%s", address, abbreviate(lines[max(0, len(lines)-20):]...))
	}
	return lines
}

// replicaReads is how many statements the gateway has sent to the replica.
func replicaReads(t *testing.T, g *gateway) float64 {
	t.Helper()
	return g.metric(t, `pointsman_gateway_statements_total{hostgroup="20"}`)
}

// compare names the first lines that differ.
func compare(t *testing.T, direct, through []string) {
	t.Helper()
	for i := range max(len(direct), len(through)) {
		a, b := at(direct, i), at(through, i)
		if a != b {
			t.Errorf("line %d differs; before it:\n%s\ndirectly:\n%s\nthrough the gateway:\n%s", i+1,
				abbreviate(direct[max(0, i-5):min(i, len(direct))]...), abbreviate(a), abbreviate(b))
			return
		}
	}
	t.Logf("%d equal lines", len(direct))
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}

// abbreviate makes long lines readable.
func abbreviate(lines ...string) string {
	var out strings.Builder
	for _, line := range lines {
		if len(line) > 500 {
			line = line[:500] + "..."
		}
		out.WriteString("  " + line + "\n")
	}
	return out.String()
}

// script runs a client's program in testdata and gives all that it writes.
func script(t *testing.T, stdin []byte, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = "testdata"
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, abbreviate(strings.Split(string(out), "\n")...))
	}
	return string(out)
}

// large is the size of a large value in bytes, more than one packet of the protocol holds.
const large = 20 << 20

func mariadbScript(t *testing.T, host, port string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "script.sql"))
	if err != nil {
		t.Fatal(err)
	}
	options := []string{
		"--no-defaults", "--host=" + host, "--port=" + port, "--protocol=tcp", "--user=" + ctlUser, "--password=" + password,
		"--default-character-set=utf8mb4", "--max-allowed-packet=64M", "--local-infile=1", "--unbuffered", schema,
	}
	value := strings.Repeat("0123456789abcdef", large/16)
	stdin := strings.Replace(string(text), "LARGE", value, 1)
	out := script(t, []byte(stdin), "mariadb", append(options, "--force", "--table", "--column-type-info", "--show-warnings", "-v", "-v")...)
	out = strings.ReplaceAll(out, value, "LARGE")
	big := script(t, nil, "mariadb", append(options, "--batch", "--skip-column-names", "--execute=SELECT data FROM cli_large")...)
	if strings.TrimSpace(big) != value {
		t.Errorf("the large value at port %s comes back otherwise, with %d bytes", port, len(big))
	}
	return out + endOfScript
}

const debianPython = "/usr/bin/python3"

func pythonScript(t *testing.T, host, port string) string {
	t.Helper()
	return script(t, nil, debianPython, "script.py", host, port, ctlUser, password, schema)
}

func nodeScript(t *testing.T, host, port string) string {
	t.Helper()
	return script(t, nil, "node", filepath.Join("node", "script.mjs"), host, port, ctlUser, password, schema, appUser)
}
