package session

import (
	"testing"

	"github.com/pointsman/pointsman/decision/digest"
)

func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		sql  string
		want kind
	}{
		{"SELECT 1", kind{read: true}},
		{"(select a from t) union (select 2)", kind{read: true}},
		{"SELECT * FROM t FOR UPDATE", kind{}},
		{"select * from t lock in share mode", kind{}},
		{"SELECT a INTO OUTFILE '/x' FROM t", kind{}},
		{"SELECT a INTO @x FROM t", kind{setsVariable: true, ties: true}},
		{"SELECT @a := 1", kind{setsVariable: true, ties: true}},
		{"SELECT @a, '@b := 1'", kind{read: true}},
		{"SELECT @@server_id", kind{read: true}},
		{"SELECT GET_LOCK('a', 1)", kind{ties: true, pin: "GET_LOCK"}},
		{"SELECT get_lock ('a', 1)", kind{ties: true, pin: "GET_LOCK"}},
		{"DO GET_LOCK ('a', 1)", kind{pin: "GET_LOCK"}},
		{"SELECT my_get_lock('a', 1)", kind{}},
		{"SELECT RELEASE_LOCK('a')", kind{}},
		{"SELECT LAST_INSERT_ID()", kind{read: true, needsInsert: true}},
		{"SELECT @@identity", kind{read: true, needsInsert: true}},
		{"INSERT INTO t VALUES (LAST_INSERT_ID())", kind{needsInsert: true}},
		{"SELECT FOUND_ROWS()", kind{read: true, needsLast: true}},
		{"SELECT FOUND_ROWS ()", kind{read: true, needsLast: true}},
		{"SELECT SQL_CALC_FOUND_ROWS (1)", kind{read: true}},
		{"SELECT row_count ()", kind{read: true, needsLast: true}},
		{"SELECT row_count FROM t", kind{read: true}},
		{"SELECT @@warning_count", kind{read: true, needsLast: true}},
		{"WITH a AS (SELECT 1) SELECT * FROM a", kind{read: true}},
		{"WITH a AS (SELECT 1) DELETE FROM t WHERE id IN (SELECT * FROM a)", kind{}},
		{"SHOW WARNINGS", kind{read: true, needsLast: true}},
		{"SHOW COUNT(*) ERRORS", kind{read: true, needsLast: true}},
		{"SHOW TABLES", kind{read: true}},
		{"EXPLAIN SELECT 1", kind{read: true}},
		{"GET DIAGNOSTICS @a = NUMBER", kind{needsLast: true}},
		{"USE shop", kind{use: true}},
		{"/* c */ use `shop` ;", kind{use: true}},
		{"USE shop; SELECT 1", kind{}},
		{"COMMIT", kind{commit: true}},
		{"commit and chain", kind{commit: true}},
		{"ROLLBACK WORK", kind{commit: true}},
		{"ROLLBACK TO SAVEPOINT a", kind{}},
		{"ROLLBACK WORK TO a", kind{}},
		{"SET NAMES utf8mb4", kind{set: true}},
		{"SET NAMES utf8mb4 COLLATE utf8mb4_bin", kind{set: true, collate: true}},
		{"SET @x = 1", kind{set: true, setsVariable: true}},
		{"SET @@sql_mode = ''", kind{set: true}},
		{"SET TRANSACTION READ ONLY", kind{set: true, setTransaction: true}},
		{"SET STATEMENT max_statement_time=1 FOR SELECT 1", kind{set: true, setStatement: true}},
		{"KILL 5", kind{kill: true}},
		{"CALL p()", kind{call: true}},
		{"CALL p(@x)", kind{call: true, setsVariable: true}},
		{"HANDLER t OPEN", kind{pin: "HANDLER"}},
		{"SELECT 1; HANDLER t OPEN", kind{pin: "HANDLER"}},
		{"XA START 'a'", kind{pin: "XA"}},
		{"XA RECOVER", kind{}},
		{"FLUSH TABLES t WITH READ LOCK", kind{pin: "LOCK_TABLES"}},
		{"FLUSH TABLES", kind{}},
		{"CREATE OR REPLACE TEMPORARY TABLE t (a INT)", kind{pin: "TEMPORARY_TABLE"}},
		{"CREATE TEMPORARY TABLE t LIKE u", kind{pin: "TEMPORARY_TABLE"}},
		{"CREATE TEMPORARY SEQUENCE s", kind{pin: "TEMPORARY_TABLE"}},
		{"CREATE TABLE temporary (a INT)", kind{}},
		{"BACKUP STAGE START", kind{pin: "BACKUP"}},
		{"LOCK INSTANCE FOR BACKUP", kind{pin: "BACKUP"}},
		{"SAVEPOINT a", kind{savepoint: true}},
		{"SELECT 1; SELECT 2", kind{}},
		{"", kind{}},
		{";", kind{}},
		{"UPDATE t SET a = 'x; USE y'", kind{}},
	} {
		var b digest.Buffer
		o := digest.DefaultOptions()
		for _, keep := range []bool{false, true} {
			o.KeepComment = keep
			if got := classify(string(digest.Compute(&b, []byte(tt.sql), &o).Text)); got != tt.want {
				t.Errorf("%s (comments kept: %t):\n got %+v\nwant %+v", tt.sql, keep, got, tt.want)
			}
		}
	}
}

func FuzzClassify(f *testing.F) {
	for _, s := range []string{"SELECT 1", "((", "/*", "/* */", "ROLLBACK WORK", "SET NAMES a COLLATE", "USE", ";;", "KILL "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		k := classify(s)
		if k.read && (k.set || k.commit || k.ties || k.pin != "") {
			t.Errorf("%q: a read and more: %+v", s, k)
		}
		nameAfter([]byte(s), "USE")
	})
}

func TestNameAfter(t *testing.T) {
	for _, tt := range []struct{ text, keyword, want string }{
		{"USE shop", "USE", "shop"},
		{"/* c */ use `my shop`;", "USE", "my shop"},
		{"use shop;", "USE", "shop"},
		{"use\tshop -- x", "USE", "shop"},
		{"SET NAMES utf8mb4 COLLATE 'utf8mb4_bin'", " COLLATE ", "utf8mb4_bin"},
		{"SET NAMES utf8mb4 collate utf8mb4_bin/* c */", " COLLATE ", "utf8mb4_bin"},
		{"USE `open", "USE", ""},
		{"USE ", "USE", ""},
		{"nothing", "USE", ""},
	} {
		if got := nameAfter([]byte(tt.text), tt.keyword); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestRestore(t *testing.T) {
	var st state
	if got := st.restore(); got != "" {
		t.Errorf("nothing changed: %s", got)
	}
	for _, v := range [][2]string{
		{"sql_mode", "ANSI"},
		{"character_set_results", ""},
		{"max_statement_time", "1.500000"},
		{"time_zone", "it's"},
		{"net_read_timeout", "-1"},
		{"sql_mode", ""},
		{"init_connect", `a\b`},
		{"version", "1.2.3"},
		{"x", "-"},
	} {
		st.setVariable(v[0], v[1])
	}
	const want = `SET SESSION character_set_results=NULL, SESSION max_statement_time=1.500000, SESSION time_zone='it''s', ` +
		`SESSION net_read_timeout=-1, SESSION sql_mode='', SESSION init_connect='a\\b', SESSION version='1.2.3', SESSION x='-'`
	if got := st.restore(); got != want || st.version != 9 {
		t.Errorf("%s\nwant %s", got, want)
	}
}
