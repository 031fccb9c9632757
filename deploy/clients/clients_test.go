package clients

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// endOfScript is the last line that every client prints.
const endOfScript = "end of script"

// client plays the script against an address and gives what came of it.
type client struct {
	name  string
	heavy bool // Its packages are large: left out of the short form.
	need  func(*testing.T)
	play  func(t *testing.T, p *play, host, port string) []byte
}

// play is the script in the forms that clients read, and the folder where they run.
type play struct {
	steps []step
	file  string // One line for each step, see step.encode.
	dir   string // With the files that LOAD DATA LOCAL names.
}

// clients are those whose programs are in testdata, beside two whose scripts are made here.
func clients() []client {
	debianPython := "/usr/bin/python3"
	return []client{
		{name: "mariadb", need: program("mariadb"), play: mariadbCLI},
		{name: "go-sql-driver", need: func(*testing.T) {}, play: goSQLDriver},
		{name: "PyMySQL", need: loads(debianPython, "-c", "import pymysql"), play: script(debianPython, "dbapi.py", "pymysql")},
		{name: "MySQLdb", need: loads(debianPython, "-c", "import MySQLdb"), play: script(debianPython, "dbapi.py", "MySQLdb")},
		{name: "mysqli", need: loads("php", "-r", "exit(extension_loaded('mysqli') ? 0 : 1);"), play: script("php", "mysqli.php")},
		{name: "PDO", need: loads("php", "-r", "exit(extension_loaded('pdo_mysql') ? 0 : 1);"), play: script("php", "pdo.php", "native")},
		{name: "PDO emulated", need: loads("php", "-r", "exit(extension_loaded('pdo_mysql') ? 0 : 1);"), play: script("php", "pdo.php", "emulated")},
		{name: "DBD mysql", need: loads("perl", "-MDBD::mysql", "-e", "1"), play: script("perl", "dbi.pl", "mysql")},
		{name: "DBD MariaDB", need: loads("perl", "-MDBD::MariaDB", "-e", "1"), play: script("perl", "dbi.pl", "MariaDB")},
		{name: "npm mysql", need: nodeModule("mysql"), play: script("node", "node/mysql.mjs")},
		{name: "npm mysql2", need: nodeModule("mysql2"), play: script("node", "node/mysql2.mjs")},
		{name: "npm mariadb", need: nodeModule("mariadb"), play: script("node", "node/mariadb.mjs")},
		{name: "ruby-mysql2", heavy: true, need: loads("ruby", "-rmysql2", "-e", ""), play: script("ruby", "mysql2.rb")},
		{name: "Connector J", heavy: true, need: connectorJ, play: script("java", "Play.java", "client")},
		{name: "Connector J prepared", heavy: true, need: connectorJ, play: script("java", "Play.java", "server")},
	}
}

// TestClients plays the script with each client: directly, with the reads on another server, and with everything on one.
func TestClients(t *testing.T) {
	f := newFleet(t)
	p := newPlay(t)
	for _, c := range clients() {
		t.Run(c.name, func(t *testing.T) {
			if c.heavy && !*full {
				t.Skip("left out of the short form; make test-clients plays it")
			}
			c.need(t)
			direct := f.play(t, c, p, f.server.Addr)
			for _, listener := range f.listeners() {
				t.Run(listener.name, func(t *testing.T) {
					compare(t, direct, f.play(t, c, p, listener.address))
				})
			}
		})
	}
}

// newPlay writes the script and the files that it loads.
func newPlay(t *testing.T) *play {
	t.Helper()
	p := &play{steps: readScript(t, *full), dir: t.TempDir()}
	p.file = filepath.Join(p.dir, "script")
	var text, large strings.Builder
	for _, s := range p.steps {
		text.WriteString(s.encode() + "\n")
	}
	rows := 20_000
	if *full {
		rows = 1_000_000
	}
	for i := range rows {
		fmt.Fprintf(&large, "%d,word %d of many\n", i, i)
	}
	for name, content := range map[string]string{
		"script": text.String(), "large.txt": large.String(), "empty.txt": "",
		"rows.txt": "1\teins\n2\tünï 😀\n\\N\t\\N\n3\ta\\tb\n400\tx\n",
		// What would be commands of the protocol: quit, a query, a packet's header.
		"commands.txt": "\x01\n\x03DROP TABLE words\n\x01\x00\x00\x00\x01\n\x02nowhere\n\xff\xfe\xfb\x00\n",
	} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// play plays the script on clean schemas and gives the lines.
func (f *fleet) play(t *testing.T, c client, p *play, address string) []string {
	t.Helper()
	f.clean(t)
	host, port, _ := net.SplitHostPort(address)
	out := c.play(t, p, host, port)
	if keep := os.Getenv("KEEP_PLAYS"); keep != "" {
		name := strings.ReplaceAll(t.Name(), "/", "_")
		if err := os.WriteFile(filepath.Join(keep, name), out, 0o600); err != nil {
			t.Error(err)
		}
	}
	lines := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	if last := lines[len(lines)-1]; last != endOfScript {
		t.Fatalf("the script does not come to its end; its last lines:\n%s", abbreviate(lines[max(0, len(lines)-20):]...))
	}
	if bytes.Contains(out, []byte("out of sync")) || bytes.Contains(out, []byte("gone away")) {
		t.Errorf("the client got out of step:\n%s", abbreviate(around(lines, "out of sync", "gone away")...))
	}
	return lines
}

// around gives the first line with one of the texts, and those before it.
func around(lines []string, texts ...string) []string {
	i := slices.IndexFunc(lines, func(line string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(line, text) })
	})
	return lines[max(0, i-10) : i+1]
}

// compare names the lines that differ, up to the tenth.
func compare(t *testing.T, direct, through []string) {
	t.Helper()
	differences, statement := 0, ""
	for i := range max(len(direct), len(through)) {
		a, b := at(direct, i), at(through, i)
		if strings.HasPrefix(a, "> ") {
			statement = a
		}
		if a == b {
			continue
		}
		t.Errorf("line %d differs; the statement is\n%sdirectly:\n%sthrough the gateway:\n%s", i+1, abbreviate(statement), abbreviate(a), abbreviate(b))
		if differences++; differences == 10 || len(direct) != len(through) {
			return
		}
	}
	t.Logf("%d lines compared", len(direct))
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
		if len(line) > 400 {
			line = line[:400] + "..."
		}
		out.WriteString("  " + line + "\n")
	}
	return out.String()
}

// script runs a program of testdata. It gets host, port and the script's file behind its own arguments.
func script(interpreter, file string, args ...string) func(*testing.T, *play, string, string) []byte {
	return func(t *testing.T, p *play, host, port string) []byte {
		t.Helper()
		path, err := filepath.Abs(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		args := append(append([]string{path}, args...), host, port, p.file)
		if interpreter == "java" {
			args = append([]string{"-cp", mariadbJar}, args...)
		}
		return run(t, p.dir, nil, interpreter, args...)
	}
}

// mariadbJar is where Debian's package has the driver.
const mariadbJar = "/usr/share/java/mariadb-java-client.jar"

func connectorJ(t *testing.T) {
	t.Helper()
	_, err := os.Stat(mariadbJar)
	need(t, "Connector/J or a Java compiler", err == nil && found("java") && found("javac"))
}

// program needs a program.
func program(name string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		need(t, name, found(name))
	}
}

// loads needs a command to succeed, as a rule one that loads a library.
func loads(name string, args ...string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		need(t, t.Name(), exec.CommandContext(t.Context(), name, args...).Run() == nil)
	}
}

func nodeModule(name string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		program("node")(t)
		_, err := os.Stat(filepath.Join("testdata", "node", "node_modules", name))
		need(t, name+" from npm", err == nil)
	}
}
