package session

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// flagsOf reads flags by their names.
func flagsOf(tb testing.TB, names ...string) Flags {
	tb.Helper()
	var f Flags
	for _, name := range names {
		i := slices.Index(flagNames[:], name)
		if i < 0 {
			tb.Fatalf("no flag %s", name)
		}
		f |= 1 << i
	}
	return f
}

// TestMultiplexingVectors holds the flags against a running ProxySQL 2.7.2.
func TestMultiplexingVectors(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "multiplexing.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		ID              string   `json:"id"`
		SQL             string   `json:"sql"`
		DigestText      string   `json:"digest_text"`
		InitialFlags    []string `json:"initial_flags"`
		ExpectFlags     []string `json:"expect_flags"`
		MultiplexingOff bool     `json:"multiplexing_off"`
		Multiplex       *uint32  `json:"qpo_multiplex"`
		InTransaction   bool     `json:"in_transaction"`
		Autocommit      *bool    `json:"autocommit"`
		Warnings        uint16   `json:"warning_count"`
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, tt := range cases {
		o := DefaultMultiplexOptions()
		o.Multiplex = tt.Multiplex
		o.InTransaction = tt.InTransaction
		if tt.Autocommit != nil {
			o.Autocommit = *tt.Autocommit
		}
		o.Warnings = tt.Warnings
		o.Text = []byte(tt.SQL)
		set, cleared := StatementFlags([]byte(tt.DigestText), o)
		got := flagsOf(t, tt.InitialFlags...)&^cleared | set
		if want := flagsOf(t, tt.ExpectFlags...); got != want || (got != 0) != tt.MultiplexingOff {
			t.Errorf("%s %s: %v, want %v", tt.ID, tt.SQL, got, want)
		}
	}
}

func TestStatementFlags(t *testing.T) {
	var (
		transaction = func(o *MultiplexOptions) { o.InTransaction = true }
		noAuto      = func(o *MultiplexOptions) { o.Autocommit = false }
		warnings    = func(o *MultiplexOptions) { o.Warnings = 2 }
		locked      = func(o *MultiplexOptions) { o.Locked = true }
		noLocks     = func(o *MultiplexOptions) { o.LockOnHostgroup = false }
		text        = func(s string) func(o *MultiplexOptions) {
			return func(o *MultiplexOptions) { o.Text = []byte(s) }
		}
		rule = func(multiplex uint32) func(o *MultiplexOptions) {
			return func(o *MultiplexOptions) { o.Multiplex = &multiplex }
		}
	)
	// Outside a transaction each statement without warnings clears these two.
	const usual = HasSavepoint | HasWarnings
	for _, tt := range []struct {
		digest  string
		change  func(o *MultiplexOptions)
		set     Flags
		cleared Flags
	}{
		{"SELECT ?", nil, 0, usual},
		{"SELECT @a", nil, UserVariable, usual},
		{"SELECT @@version", nil, 0, usual},
		{"select @@SESSION.Version_Comment,@@local.tx_isolation limit ?", nil, 0, usual},
		{"SELECT @@version AS v,@@transaction_isolation", nil, 0, usual},
		{"SELECT @@version,?", nil, UserVariable, usual},
		{"SELECT @@version,@a", nil, UserVariable, usual},
		{"SELECT @@version INTO @a", nil, UserVariable, usual},
		{"SELECT @@version WHERE ?=@@hostname", nil, 0, usual},
		{"SELECT @@global.version", nil, UserVariable, usual},
		{"SELECT @@hostname", nil, UserVariable, usual},
		{"SELECT @@ version", nil, UserVariable, usual},
		{"(SELECT @@version)", nil, UserVariable, usual},
		{"SELECT @@hostname", func(o *MultiplexOptions) { o.KeepVariables = []string{"", "host"} }, 0, usual},
		{"SELECT @@version", func(o *MultiplexOptions) { o.KeepVariables = nil }, UserVariable, usual},
		{"SELECT name FROM users WHERE mail=a@b", nil, UserVariable, usual},
		{"SELECT @a", rule(2), 0, usual},
		{"SELECT @a", rule(1), UserVariable, usual | NoMultiplex},
		{"SET @a=?", nil, 0, usual},
		{"SET @a=?", noLocks, UserVariable, usual},
		{"SET @a=?", locked, UserVariable | NoMultiplex, usual},
		{"SELECT ?", locked, NoMultiplex, usual},
		{"SELECT ?", func(o *MultiplexOptions) { locked(o); rule(1)(o) }, 0, usual | NoMultiplex},
		{"SELECT ?", func(o *MultiplexOptions) { locked(o); rule(2)(o) }, 0, usual},
		{"SELECT ?", rule(0), NoMultiplex, usual},
		{"prepare s FROM ?", nil, PreparedStatement, usual},
		{"PREPARED", nil, 0, usual},
		{"lock tables t WRITE", nil, LockTables, usual},
		{"FLUSH TABLES WITH READ LOCK", nil, LockTables, usual},
		{"FLUSH TABLES", nil, 0, usual},
		{"unlock tables", nil, 0, usual | LockTables},
		{"CREATE TEMPORARY TABLE t(a int)", nil, TemporaryTable, usual},
		{"SELECT ? FROM t WHERE get_lock(?,?)", nil, GetLock, usual},
		{"SELECT GET_LOCK (?,?)", nil, 0, usual},
		{"SELECT (?),IS_FREE_LOCK(?)", nil, 0, usual},
		{"SELECT sql_calc_found_rows a FROM t_a", nil, FoundRows, usual},
		{"SELECT sql_cache_found_rows FROM sql_calc", nil, 0, usual},
		{"SAVEPOINT a", nil, 0, usual},
		{"savepoint a", transaction, HasSavepoint, HasWarnings},
		{"SAVEPOINT a", noAuto, HasSavepoint, HasWarnings},
		{"RELEASE SAVEPOINT a", transaction, 0, HasWarnings},
		{"ROLLBACK TO a", noAuto, 0, HasWarnings},
		{"rollback", noAuto, 0, usual},
		{"commit", noAuto, 0, usual},
		{"COMMIT AND CHAIN", transaction, 0, HasWarnings},
		{"SELECT ?", transaction, 0, HasWarnings},
		{"INSERT INTO t VALUES (?)", warnings, HasWarnings, HasSavepoint},
		{"show warnings", nil, 0, HasSavepoint},
		{"SHOW COUNT(*) WARNINGS", nil, 0, HasSavepoint},
		{"SHOW WARNINGS LIMIT ?", nil, 0, usual},
		{"SET sql_log_bin=?", text("SET sql_log_bin=0"), SQLLogBin0, usual},
		{"SET SESSION sql_log_bin=OFF", text("SET SESSION sql_log_bin=OFF"), SQLLogBin0, usual},
		{"SET SQL_LOG_BIN = ?", text("SET SQL_LOG_BIN = 1"), 0, usual | SQLLogBin0},
		{"SET @@sql_log_bin:=on", text("SET @@sql_log_bin := on;"), 0, usual | SQLLogBin0},
		{"SET `sql_log_bin`=?", text("SET `sql_log_bin` = 'ON'"), 0, usual | SQLLogBin0},
		{"SET sql_log_bin=?,a=?", text("/* sql_log_bin */ SET sql_log_bin=1,a=2"), 0, usual | SQLLogBin0},
		{"SET sql_log_bin=?", text("SET sql_log_bin=10"), SQLLogBin0, usual},
		{"SET sql_log_bin=?", text("SET sql_log_bin"), SQLLogBin0, usual},
		{"SET sql_log_bin=?", nil, SQLLogBin0, usual},
		{"SET a=?", text("SET a='sql_log_bin=0'"), 0, usual},
		{"SELECT GET_LOCK(?,?),SQL_CALC_FOUND_ROWS,@a", warnings, GetLock | FoundRows | UserVariable | HasWarnings, HasSavepoint},
		{"", nil, 0, HasSavepoint},
		{"", func(o *MultiplexOptions) { warnings(o); locked(o); transaction(o) }, NoMultiplex, 0},
	} {
		o := DefaultMultiplexOptions()
		if tt.change != nil {
			tt.change(&o)
		}
		set, cleared := StatementFlags([]byte(tt.digest), o)
		if set != tt.set || cleared != tt.cleared {
			t.Errorf("%s, %+v: sets %v and clears %v, want %v and %v", tt.digest, o, set, cleared, tt.set, tt.cleared)
		}
	}
}

func TestFlagsString(t *testing.T) {
	for f, want := range map[Flags]string{
		0:                                "",
		UserVariable:                     "USER_VARIABLE",
		LockTables | NoMultiplexHG:       "LOCK_TABLES|NO_MULTIPLEX_HG",
		SQLLogBin0 | HasWarnings | 1<<15: "SQL_LOG_BIN0|HAS_WARNINGS|0x8000",
	} {
		if got := f.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if all := (flagsEnd - 1).String(); all != strings.Join(flagNames[:], "|") {
		t.Errorf("all flags are %q", all)
	}
}

func TestStatementFlagsAllocs(t *testing.T) {
	digest := []byte("SELECT a, b FROM t WHERE (c = ? OR d IN (?,?,...)) AND sql_e = @@version")
	o := DefaultMultiplexOptions()
	if n := testing.AllocsPerRun(100, func() { StatementFlags(digest, o) }); n != 0 {
		t.Errorf("%g allocations, want 0", n)
	}
}

// FuzzStatementFlags looks for panics, flags that are both set and cleared, and letter case that counts.
func FuzzStatementFlags(f *testing.F) {
	for _, text := range []string{
		"SELECT @@version,@@session.", "SET sql_log_bin", "SET SQL_LOG_BIN:", "GET_LOCK(", "SQL_CALC_FOUND_ROWS", "SAVEPOINT ", "SELECT @", "SHOW COUNT(*) WARNINGS",
	} {
		f.Add([]byte(text), []byte(text), uint8(3), uint16(0))
	}
	f.Fuzz(func(t *testing.T, digestText, text []byte, options uint8, warnings uint16) {
		multiplex := uint32(options >> 6)
		o := DefaultMultiplexOptions()
		o.Multiplex = &multiplex
		if multiplex == 3 {
			o.Multiplex = nil
		}
		o.LockOnHostgroup, o.Locked = options&1 != 0, options&2 != 0
		o.InTransaction, o.Autocommit = options&4 != 0, options&8 != 0
		o.Warnings, o.Text = warnings, text
		set, cleared := StatementFlags(digestText, o)
		if set&cleared != 0 {
			t.Errorf("sets %v and clears %v", set, cleared)
		}
		lower := slices.Clone(digestText)
		for i, c := range lower {
			if 'A' <= c && c <= 'Z' {
				lower[i] = c + 'a' - 'A'
			}
		}
		if s, c := StatementFlags(lower, o); s != set || c != cleared {
			t.Errorf("in lower case sets %v and clears %v, want %v and %v", s, c, set, cleared)
		}
	})
}
