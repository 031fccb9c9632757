package clients

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// data is a schema with what dumps have to carry.
const data = `
CREATE TABLE parent (id INT AUTO_INCREMENT PRIMARY KEY, word VARCHAR(50) NOT NULL, at TIMESTAMP(3) NULL, UNIQUE (word)) COMMENT 'ünï';
CREATE TABLE child (id INT PRIMARY KEY, parent INT, raw LONGBLOB, amount DECIMAL(20, 5), FOREIGN KEY (parent) REFERENCES parent (id));
INSERT INTO parent (word, at) SELECT CONCAT('wörd 😀 ', seq), '2024-02-29 12:00:00.5' FROM seq_1_to_5000;
INSERT INTO child SELECT seq, seq, UNHEX(REPEAT(LPAD(HEX(seq % 256), 2, '0'), seq % 3000)), seq / 7 FROM seq_1_to_5000;
INSERT INTO child VALUES (10000, NULL, NULL, NULL), (10001, 1, REPEAT(x'00ff275c0a', 1000000), 1);
CREATE VIEW joined AS SELECT p.word, c.amount FROM parent p JOIN child c ON c.parent = p.id;
CREATE TRIGGER changed BEFORE INSERT ON child FOR EACH ROW SET NEW.amount = IFNULL(NEW.amount, 0);
CREATE PROCEDURE count_all(OUT n INT) SELECT COUNT(*) INTO n FROM parent;
CREATE FUNCTION twice(n INT) RETURNS INT DETERMINISTIC RETURN n * 2;
`

// TestTools runs tools that come with the server, which use more of the protocol and of session state than applications.
func TestTools(t *testing.T) {
	f := newFleet(t)
	program("mariadb")(t)
	f.clean(t)
	// mydumper locks all tables and asks for the server's state.
	for _, name := range []string{user, otherUser} {
		f.server.Exec(t, "GRANT ALL ON *.* TO "+name+"@'127.0.0.1'")
	}
	run(t, t.TempDir(), []byte("DELIMITER //\n"+strings.ReplaceAll(data, ";\n", "//\n")), "mariadb", options(f.server.Addr, schema)...)
	for _, listener := range f.listeners() {
		t.Run(listener.name, func(t *testing.T) {
			t.Run("mariadb-dump", func(t *testing.T) { f.dump(t, listener.address) })
			t.Run("mydumper", func(t *testing.T) { f.mydumper(t, listener.address) })
			t.Run("mariadb-tzinfo-to-sql", func(t *testing.T) { f.timeZones(t, listener.address) })
			t.Run("mariadb-admin", func(t *testing.T) { f.adminTool(t, listener.address) })
		})
	}
}

// options are those of all programs of MariaDB.
func options(address string, more ...string) []string {
	host, port, _ := net.SplitHostPort(address)
	return append([]string{
		"--no-defaults", "--host=" + host, "--port=" + port, "--protocol=tcp", "--user=" + user, "--password=" + password,
		"--default-character-set=utf8mb4",
	}, more...)
}

// dump dumps through the gateway and directly, restores through the gateway, and dumps what came of it.
func (f *fleet) dump(t *testing.T, address string) {
	t.Helper()
	program("mariadb-dump")(t)
	dump := func(address, name string, more ...string) []byte {
		t.Helper()
		out := filepath.Join(t.TempDir(), "dump.sql")
		run(t, t.TempDir(), nil, "mariadb-dump", options(address, append(more, "--routines", "--triggers", "--hex-blob", "--skip-dump-date",
			"--max-allowed-packet=64M", "--result-file="+out, name)...)...)
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	direct := dump(f.server.Addr, schema, "--single-transaction")
	for _, more := range [][]string{{"--single-transaction"}, {"--lock-tables"}, {"--lock-all-tables"}, {"--single-transaction", "--quick", "--skip-extended-insert"}} {
		want := direct
		if len(more) > 1 {
			want = dump(f.server.Addr, schema, more...)
		}
		if got := dump(address, schema, more...); !bytes.Equal(heading.ReplaceAll(want, nil), heading.ReplaceAll(got, nil)) {
			t.Errorf("%v: the dump through the gateway differs, %d bytes; directly %d", more, len(got), len(want))
		}
	}
	f.server.Exec(t, "DROP DATABASE IF EXISTS "+other, "CREATE DATABASE "+other)
	run(t, t.TempDir(), dump(address, schema, "--single-transaction"), "mariadb", options(address, "--max-allowed-packet=64M", other)...)
	restored := dump(f.server.Addr, other, "--single-transaction")
	if want, got := heading.ReplaceAll(direct, nil), heading.ReplaceAll(restored, nil); !bytes.Equal(want, bytes.ReplaceAll(got, []byte(other), []byte(schema))) {
		t.Errorf("what was restored through the gateway differs: a dump of %d bytes, wanted %d", len(got), len(want))
	}
}

// heading is the comment with the names of host and schema.
var heading = regexp.MustCompile(`(?m)^-- Host: .*$`)

// mydumper dumps with several connections that must see one state, and myloader restores.
func (f *fleet) mydumper(t *testing.T, address string) {
	t.Helper()
	program("mydumper")(t)
	host, port, _ := net.SplitHostPort(address)
	dir := filepath.Join(t.TempDir(), "dump")
	common := []string{"--host", host, "--port", port, "--user", user, "--password", password, "--threads", "4"}
	run(t, t.TempDir(), nil, "mydumper", append(common, "--database", schema, "--outputdir", dir, "--triggers", "--routines")...)
	f.server.Exec(t, "DROP DATABASE IF EXISTS "+other, "CREATE DATABASE "+other)
	run(t, t.TempDir(), nil, "myloader", append(common, "--database", other, "--directory", dir, "--overwrite-tables")...)
	for _, table := range []string{"parent", "child"} {
		if want, got := f.checksum(t, schema+"."+table), f.checksum(t, other+"."+table); want != got {
			t.Errorf("%s: checksum %d after restoring, want %d", table, got, want)
		}
	}
}

func (f *fleet) checksum(t *testing.T, table string) uint64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var name string
	var sum uint64
	if err := f.server.DB.QueryRowContext(ctx, "CHECKSUM TABLE "+table).Scan(&name, &sum); err != nil {
		t.Fatalf("%s: %v", table, err)
	}
	return sum
}

// timeZones loads the system's time zones, thousands of statements with a user variable and prepared ones.
func (f *fleet) timeZones(t *testing.T, address string) {
	t.Helper()
	program("mariadb-tzinfo-to-sql")(t)
	const zones = "/usr/share/zoneinfo/Europe"
	if _, err := os.Stat(zones); err != nil {
		t.Skipf("NOT TESTED: no time zones: %v", err)
	}
	// What it writes has long lines, and warnings of files that are no time zones go elsewhere.
	text, err := exec.CommandContext(t.Context(), "mariadb-tzinfo-to-sql", zones).Output()
	if err != nil {
		t.Fatalf("mariadb-tzinfo-to-sql %s: %v", zones, err)
	}
	tables := []string{"time_zone", "time_zone_name", "time_zone_transition", "time_zone_transition_type"}
	load := func(address string) []uint64 {
		t.Helper()
		for _, table := range tables {
			f.server.Exec(t, "TRUNCATE TABLE mysql."+table, "ALTER TABLE mysql."+table+" AUTO_INCREMENT = 1")
		}
		run(t, t.TempDir(), text, "mariadb", options(address, "mysql")...)
		var sums []uint64
		for _, table := range tables {
			sums = append(sums, f.checksum(t, "mysql."+table))
		}
		return sums
	}
	want, got := load(f.server.Addr), load(address)
	for i, table := range tables {
		if want[i] != got[i] || want[i] == 0 {
			t.Errorf("%s: checksum %d, directly %d", table, got[i], want[i])
		}
	}
}

// adminTool runs commands of the protocol that have no statement.
func (f *fleet) adminTool(t *testing.T, address string) {
	t.Helper()
	program("mariadb-admin")(t)
	for _, command := range []struct{ args, want string }{
		{"ping", "mysqld is alive"},
		{"status", "Uptime:"},
		{"extended-status", "Threads_connected"},
		{"variables", "max_allowed_packet"},
		{"version", "Server version"},
		{"processlist", user},
		{"refresh", ""},
		{"flush-tables", ""},
	} {
		out := string(run(t, t.TempDir(), nil, "mariadb-admin", options(address, strings.Fields(command.args)...)...))
		if !strings.Contains(out, command.want) {
			t.Errorf("mariadb-admin %s prints %q, want %q in it", command.args, abbreviate(out), command.want)
		}
	}
}
