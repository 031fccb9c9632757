package session

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/mysqltest"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// TestLiveWire plays one script directly and through the gateway and compares the responses byte for byte. Behind the gateway
// reads and writes go to the same server over two connections, so that the session's state has to move.
func TestLiveWire(t *testing.T) {
	primary := mysqltest.Start(t, "--local-infile=1")
	fill(t, primary)
	for _, caps := range []uint32{0, mysql.CapDeprecateEOF} {
		t.Run(fmt.Sprintf("%#x", caps), func(t *testing.T) {
			caps |= mysql.OfferedCapabilities() &^ mysql.CapDeprecateEOF
			g := startGateway(t, gatewayOptions{servers: []*configv1.Server{server(writer, primary.Addr), server(reader, primary.Addr)}})
			g.dial(t, "app", "").query(t, "SELECT 1") // from now on the gateway knows what its servers can
			var direct, through *wire
			for addr, w := range map[string]**wire{primary.Addr: &direct, g.addr: &through} {
				primary.Exec(t, "CREATE OR REPLACE DATABASE wire")
				*w = dialWire(t, addr, caps)
				play(*w)
			}
			compareWires(t, direct, through)
			t.Logf("%d responses compared", len(direct.log))
		})
	}
}

// play is the script.
func play(w *wire) {
	w.t.Helper()
	playTypes(w)
	playCharsets(w)
	playErrors(w)
	playState(w)
	playMulti(w)
	playPrepared(w)
	playCursors(w)
	playLongData(w)
	playFiles(w)
	playCommands(w)
	playSizes(w)
}

// wireTypes are column types with values for them.
var wireTypes = []struct{ column, values string }{
	{"BIT(1)", "b'0' b'1'"},
	{"BIT(64)", "b'0' b'1' 0xFFFFFFFFFFFFFFFF"},
	{"TINYINT", "-128 0 127"},
	{"TINYINT UNSIGNED", "0 255"},
	{"BOOL", "TRUE FALSE"},
	{"SMALLINT", "-32768 32767"},
	{"SMALLINT UNSIGNED ZEROFILL", "7 65535"},
	{"MEDIUMINT", "-8388608 8388607"},
	{"INT", "-2147483648 2147483647"},
	{"INT UNSIGNED", "4294967295"},
	{"BIGINT", "-9223372036854775808 9223372036854775807"},
	{"BIGINT UNSIGNED", "18446744073709551615"},
	{"DECIMAL(65,30)", "-12345678901234567890123456789012345.123456789012345678901234567890 0.1"},
	{"DECIMAL(5)", "-99999 1"},
	{"FLOAT", "-1.5 3.4e38 1e-38"},
	{"DOUBLE", "-1.7976931348623157e308 2.2250738585072014e-308 0.1"},
	{"DATE", "'1000-01-01' '9999-12-31' '2024-02-29'"},
	{"TIME", "'-838:59:59' '838:59:59' '00:00:00'"},
	{"TIME(6)", "'-01:02:03.000004' '23:59:59.999999'"},
	{"DATETIME", "'1000-01-01_00:00:00' '9999-12-31_23:59:59'"},
	{"DATETIME(6)", "'2024-02-29_12:34:56.789012'"},
	{"TIMESTAMP NULL", "'1970-01-02_00:00:01' '2038-01-18_03:14:07'"},
	{"TIMESTAMP(3) NULL", "'2001-02-03_04:05:06.789'"},
	{"YEAR", "1901 2155"},
	{"CHAR(10)", "'' 'a' 'äöü'"},
	{"VARCHAR(2000)", "'' REPEAT('x',250) REPEAT('x',251) REPEAT('é',1000)"},
	{"BINARY(4)", "'' 0x00FF"},
	{"VARBINARY(300)", "'' 0x00FEFFFB REPEAT(0xFE,300)"},
	{"TINYBLOB", "'' REPEAT(0xFF,255)"},
	{"BLOB", "'' REPEAT(0xFE,65535)"},
	{"MEDIUMBLOB", "REPEAT(0xFB,65536)"},
	{"LONGTEXT", "'' 'text' REPEAT('ß',100000)"},
	{"ENUM('a','b','ç')", "'a' 'ç'"},
	{"SET('x','y','z')", "'' 'x,z'"},
	{"JSON", "'{}' '[1,{\"a\":null}]'"},
	{"UUID", "'123e4567-e89b-12d3-a456-426655440000'"},
	{"INET6", "'::1' '2001:db8::ff00:42:8329'"},
	{"POINT", "POINT(1,2)"},
	{"GEOMETRY", "ST_GeomFromText('POLYGON((0_0,0_1,1_1,0_0))')"},
}

func playTypes(w *wire) {
	w.t.Helper()
	for i, tt := range wireTypes {
		table := fmt.Sprintf("t%d", i)
		w.query("CREATE TABLE " + table + " (id INT PRIMARY KEY AUTO_INCREMENT, v " + tt.column + ")")
		w.query("INSERT INTO " + table + " (v) VALUES (NULL)")
		for value := range strings.SplitSeq(tt.values, " ") {
			w.query("INSERT INTO " + table + " (v) VALUES (" + strings.ReplaceAll(value, "_", " ") + ")")
		}
		all := "SELECT id, v, v IS NULL FROM " + table + " ORDER BY id"
		w.query(all)
		w.prepare(all)
		w.execute(all, 0)
		w.execute(all, 0)
		insert := "INSERT INTO " + table + " (v) SELECT v FROM " + table + " WHERE id = ?"
		w.prepare(insert)
		w.execute(insert, 0, bind(longlong(2))...)
		w.closeStatement(insert)
		w.query("UPDATE " + table + " SET v = v")
		w.query("SELECT COUNT(*), MAX(id) FROM " + table)
	}
	w.query("SELECT * FROM t0 WHERE id < 0")
	w.query("SELECT " + strings.TrimSuffix(strings.Repeat("NULL,", 300), ","))
	w.query("SELECT t.TABLE_NAME, t.ENGINE FROM information_schema.TABLES t WHERE TABLE_SCHEMA = 'wire' ORDER BY 1")
}

func playCharsets(w *wire) {
	w.t.Helper()
	w.query("CREATE TABLE c (a VARCHAR(20) CHARACTER SET utf8mb4, b VARCHAR(20) CHARACTER SET latin1, d VARBINARY(80))")
	w.query("INSERT INTO c VALUES ('äß€😀', 'äß€', 0xC3A4)")
	for _, charset := range []string{"latin1", "utf8mb3", "cp1250", "koi8r", "gbk", "sjis", "binary", "utf8mb4"} {
		w.query("SET NAMES " + charset)
		w.query("SELECT a, b, d, 'ä', @@character_set_client FROM c")
		w.query("SELECT a FROM c WHERE b = 'ä' FOR UPDATE")
		w.query("INSERT INTO c VALUES ('\xe4', 'x', '\xe4')")
		w.query("SELECT '\xe4' AS \xe4\xf6")
	}
	w.query("SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci")
	w.query("SELECT 'ß' = 'ss', COLLATION('x') FOR UPDATE") // elsewhere the collation of results is the default one
	w.query("SET character_set_results = NULL")
	w.query("SELECT a, b FROM c LIMIT 1")
	w.query("SET NAMES utf8mb4")
}

func playErrors(w *wire) {
	w.t.Helper()
	w.query("CREATE TABLE e (id INT PRIMARY KEY, n TINYINT NOT NULL, CHECK (n < 100))")
	for _, text := range []string{
		"nonsense", "", " ", ";", "-- comment", "/* comment */", "SELECT", "SELECT * FROM missing", "SELECT missing FROM e", "INSERT INTO e VALUES (1, NULL)",
		"INSERT INTO e VALUES (1, 1), (1, 2)", "INSERT INTO e VALUES (2, 200)", "INSERT INTO e VALUES (3, 3)", "INSERT IGNORE INTO e VALUES (3, 3), (4, 1000)",
		"SHOW WARNINGS", "SHOW COUNT(*) WARNINGS", "SELECT 1/0", "SHOW WARNINGS", "SELECT CAST('x' AS SIGNED)", "SHOW WARNINGS LIMIT 1",
		"nonsense again", "SHOW ERRORS", "SELECT @@warning_count",
		"SELECT (SELECT id FROM e UNION SELECT 5)", "SELECT 1 FROM e WHERE id = (SELECT 1 UNION SELECT 2)",
		"SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'my own', MYSQL_ERRNO = 5555", "SIGNAL SQLSTATE '01000' SET MESSAGE_TEXT = 'a warning'", "SHOW WARNINGS",
		"KILL 99999999", "USE missing", "SELECT DATABASE()", "DROP TABLE missing", "DROP TABLE IF EXISTS missing", "SHOW WARNINGS",
		"SELECT " + strings.Repeat("(", 300) + "1", "SELECT '" + strings.Repeat("x", 1000) + "' FROM missing", "SELECT * FROM `" + strings.Repeat("x", 64) + "`",
		"SET sql_mode = 'nonsense'", "SET nonsense = 1", "SET @@global.server_uid = 1", "LOAD DATA INFILE '/nonexistent' INTO TABLE e", "DO SLEEP(0)", "SELECT SLEEP(0)",
	} {
		w.query(text)
	}
}

func playState(w *wire) {
	w.t.Helper()
	w.query("CREATE TABLE s (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
	for _, text := range []string{
		"INSERT INTO s (v) VALUES (1)", "SELECT LAST_INSERT_ID()", "INSERT INTO s (v) VALUES (2), (3)", "SELECT LAST_INSERT_ID(), ROW_COUNT()",
		"UPDATE s SET v = v", "UPDATE s SET v = v + 1", "SELECT ROW_COUNT()", "REPLACE INTO s VALUES (1, 9)", "DELETE FROM s WHERE id = 2",
		"BEGIN", "SELECT * FROM s", "INSERT INTO s (v) VALUES (4)", "SELECT COUNT(*) FROM s", "SAVEPOINT a", "DELETE FROM s", "ROLLBACK TO a",
		"nonsense", "SELECT COUNT(*) FROM s", "ROLLBACK", "SELECT COUNT(*) FROM s", "START TRANSACTION READ ONLY", "INSERT INTO s (v) VALUES (5)", "SELECT COUNT(*) FROM s", "COMMIT",
		"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "START TRANSACTION", "SELECT @@in_transaction", "COMMIT AND CHAIN", "SELECT 1", "ROLLBACK RELEASE_NOT",
		"ROLLBACK", "SET autocommit = 0", "SELECT COUNT(*) FROM s", "INSERT INTO s (v) VALUES (6)", "COMMIT", "SELECT @@autocommit", "SET autocommit = 1",
		"SET sql_mode = 'ANSI_QUOTES'", `SELECT "id" FROM s`, "SET sql_mode = 'NO_BACKSLASH_ESCAPES'", `SELECT 'a\'`, `SELECT 'a\' FOR UPDATE`, "SET sql_mode = DEFAULT",
		"SET time_zone = '+03:00'", "SELECT FROM_UNIXTIME(0)", "SELECT FROM_UNIXTIME(0) FOR UPDATE", "SET time_zone = DEFAULT",
		"SET STATEMENT max_statement_time = 5 FOR SELECT 1", "SELECT @@max_statement_time", "SET max_statement_time = 0",
		"SELECT SQL_CALC_FOUND_ROWS * FROM s LIMIT 1", "SELECT FOUND_ROWS()", "SET @a = 5, @b := 'x'", "SELECT @a, @b, @c := 7", "SELECT @c", "SELECT v INTO @v FROM s LIMIT 1", "SELECT @v",
		"CREATE TEMPORARY TABLE tmp SELECT * FROM s", "SELECT COUNT(*) FROM tmp", "DROP TEMPORARY TABLE tmp",
		"PREPARE p FROM 'SELECT ? + 1'", "EXECUTE p USING @a", "DEALLOCATE PREPARE p", "EXECUTE p", "LOCK TABLES s READ", "INSERT INTO s (v) VALUES (7)", "SELECT COUNT(*) FROM s", "UNLOCK TABLES",
		"SELECT GET_LOCK('wire', 0)", "SELECT IS_FREE_LOCK('wire')", "SELECT RELEASE_LOCK('wire')", "FLUSH TABLES s WITH READ LOCK", "UNLOCK TABLES",
		"XA START 'x'", "INSERT INTO s (v) VALUES (8)", "XA END 'x'", "XA PREPARE 'x'", "XA RECOVER", "XA COMMIT 'x'",
		"EXPLAIN SELECT * FROM s WHERE id = 1", "DESCRIBE s", "SHOW CREATE TABLE s", "SHOW COLUMNS FROM s", "ANALYZE TABLE s", "CHECK TABLE s", "HANDLER s OPEN", "HANDLER s READ FIRST", "HANDLER s CLOSE",
		"ALTER TABLE s ADD w INT DEFAULT 5", "SELECT * FROM s ORDER BY id", "TRUNCATE s", "INSERT INTO s (v) VALUES (1) RETURNING id, v", "DELETE FROM s RETURNING *",
		"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i FROM n", "VALUES (1, 2), (3, 4)", "TABLE s", "(SELECT 1) UNION (SELECT 2)", "/*!50000 SELECT 5 */", "SELECT /* c */ 1 -- end",
	} {
		if strings.Contains(text, "ROW_COUNT") { // a server takes a PING for a statement that changed no rows
			w.query(text)
			continue
		}
		w.simple(mysql.ComPing, "")
		w.query(text)
	}
}

func playMulti(w *wire) {
	w.t.Helper()
	w.query("CREATE TABLE m (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
	w.query("CREATE PROCEDURE several(n INT) BEGIN WHILE n > 0 DO SELECT n; INSERT INTO m (v) VALUES (n); SET n = n - 1; END WHILE; END")
	w.query("CREATE PROCEDURE bad() BEGIN SELECT 1; SELECT * FROM missing; SELECT 2; END")
	w.query("CREATE PROCEDURE quiet() DO 1")
	w.query("CREATE PROCEDURE params(IN a INT, OUT b INT, INOUT c VARCHAR(10)) BEGIN SET b = a * 2, c = CONCAT(c, '!'); SELECT a; END")
	w.query("CREATE FUNCTION twice(a INT) RETURNS INT DETERMINISTIC RETURN a * 2")
	for _, text := range []string{
		"SELECT 1; SELECT 2", "SELECT 1;", "SELECT 1; ", ";SELECT 1", "INSERT INTO m (v) VALUES (1); SELECT * FROM m; UPDATE m SET v = 2; DELETE FROM m", "SELECT 1; nonsense; SELECT 2",
		"SELECT 1; SELECT * FROM missing; SELECT 2", "SELECT 1; INSERT INTO m VALUES (1, 1), (1, 1); SELECT 2", "BEGIN; INSERT INTO m (v) VALUES (3); COMMIT; SELECT COUNT(*) FROM m", "DO 1; DO 2; DO 3",
		"CALL several(3)", "CALL several(0)", "CALL bad()", "CALL quiet()", "CALL missing()", "CALL several(2); CALL several(1); SELECT 9", "CALL params(1, @b, @c)", "SET @c = 'x'", "CALL params(1, @b, @c)", "SELECT @b, @c", "SELECT twice(4)",
		strings.Repeat("SELECT 1;", 50), strings.Repeat("SELECT REPEAT('x', 5000);", 30), "SELECT 1 WHERE FALSE; SELECT 2 WHERE FALSE",
	} {
		w.query(text)
	}
	for _, text := range []string{"CALL several(3)", "CALL bad()", "CALL quiet()"} {
		w.prepare(text)
		w.execute(text, 0)
		w.execute(text, 0)
	}
	params := "CALL params(?, ?, ?)"
	w.prepare(params)
	w.execute(params, 0, bind(longlong(4), longlong(0), varString("y"))...)
	w.simple(mysql.ComSetOption, "\x01\x00")
	w.query("SELECT 1; SELECT 2")
	w.query("CALL several(2)")
	w.simple(mysql.ComSetOption, "\x00\x00")
	w.query("SELECT 1; SELECT 2")
	w.simple(mysql.ComSetOption, "\x09\x00")
	w.prepare("SELECT 1; SELECT 2")
}

// parameter is a value of the binary protocol.
type parameter struct {
	kind, flag byte
	value      []byte
	null       bool
}

func longlong(v int64) parameter {
	return parameter{kind: 8, value: binary.LittleEndian.AppendUint64(nil, uint64(v))}
}

func varString(s string) parameter { return parameter{kind: 253, value: lenencString(s)} }

func lenencString(s string) []byte {
	b := []byte{byte(len(s))}
	if n := len(s); n > 250 {
		b = []byte{0xfe, byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24), 0, 0, 0, 0}
	}
	return append(b, s...)
}

// bind gives the end of an EXECUTE with types, and rebind that without.
func bind(params ...parameter) []byte { return bindWith(true, params) }

func rebind(params ...parameter) []byte { return bindWith(false, params) }

func bindWith(types bool, params []parameter) []byte {
	nulls := make([]byte, (len(params)+7)/8)
	for i, p := range params {
		if p.null {
			nulls[i/8] |= 1 << (i % 8)
		}
	}
	var kinds, values []byte
	for _, p := range params {
		kinds = append(kinds, p.kind, p.flag)
		values = append(values, p.value...)
	}
	if types {
		return slices.Concat(nulls, []byte{1}, kinds, values)
	}
	return slices.Concat(nulls, []byte{0}, values)
}

func playPrepared(w *wire) {
	w.t.Helper()
	values := []parameter{
		{kind: 1, value: []byte{0x80}},
		{kind: 1, flag: 0x80, value: []byte{0xff}},
		{kind: 2, value: []byte{0, 0x80}},
		{kind: 3, value: []byte{1, 2, 3, 0x84}},
		longlong(math.MinInt64),
		{kind: 8, flag: 0x80, value: []byte{255, 255, 255, 255, 255, 255, 255, 255}},
		{kind: 4, value: []byte{0, 0, 0xc0, 0x3f}},
		{kind: 5, value: []byte{0, 0, 0, 0, 0, 0, 0xf8, 0x3f}},
		{kind: 10, value: []byte{4, 0xe8, 7, 2, 29}},
		{kind: 12, value: []byte{7, 0xe8, 7, 2, 29, 1, 2, 3}},
		{kind: 12, value: []byte{11, 0xe8, 7, 2, 29, 1, 2, 3, 4, 0, 0, 0}},
		{kind: 12, value: []byte{0}},
		{kind: 7, value: []byte{7, 0xe8, 7, 2, 29, 1, 2, 3}},
		{kind: 11, value: []byte{8, 1, 2, 0, 0, 0, 3, 4, 5}},
		{kind: 11, value: []byte{0}},
		{kind: 246, value: lenencString("-1.50")},
		varString(""), varString("äöü"), varString(strings.Repeat("x", 300)),
		{kind: 252, value: lenencString("\x00\xfe\xff")},
		{kind: 254, value: lenencString("char")},
		{kind: 6, null: true},
		{kind: 253, null: true},
		{kind: 3, null: true},
	}
	one := "SELECT ? AS v, HEX(?)"
	w.prepare(one)
	for _, v := range values {
		w.execute(one, 0, bind(v, v)...)
		w.execute(one, 0, rebind(v, v)...)
	}
	all := "SELECT " + strings.TrimSuffix(strings.Repeat("?,", len(values)), ",")
	w.prepare(all)
	w.execute(all, 0, bind(values...)...)
	w.query("BEGIN") // the next ones run on another connection, which has not got the types
	w.execute(all, 0, rebind(values...)...)
	w.execute(one, 0, rebind(values[0], values[0])...)
	w.query("COMMIT")
	w.execute(all, 0, rebind(values...)...)
	w.execute(all, 0, 1, 2, 3)
	for _, text := range []string{"nonsense", "", "SELECT ? FROM missing", "KILL ?", "CREATE TABLE pt (a INT, b VARCHAR(10))", "INSERT INTO pt VALUES (?, ?)", "UPDATE pt SET a = a + ?", "SELECT * FROM pt WHERE a > ?", "DELETE FROM pt", "DROP TABLE pt", "SHOW TABLES LIKE 't1%'", "DO ?", "SET @p = ?", "SELECT @p"} {
		if strings.HasPrefix(text, "KILL") {
			continue // refused by the gateway
		}
		w.prepare(text)
		if w.ids[text] == 0 {
			continue
		}
		var params []parameter
		for i := range strings.Count(text, "?") {
			params = append(params, longlong(int64(i+5)))
		}
		if len(params) == 0 {
			w.execute(text, 0)
			continue
		}
		w.execute(text, 0, bind(params...)...)
		w.execute(text, 0, rebind(params...)...)
	}
	// Metadata are those of the table as it is now.
	w.query("CREATE TABLE a (x INT, y INT)")
	w.query("INSERT INTO a VALUES (1, 2)")
	w.prepare("SELECT * FROM a")
	w.execute("SELECT * FROM a", 0)
	w.query("ALTER TABLE a ADD z VARCHAR(5) DEFAULT 'z'")
	w.execute("SELECT * FROM a", 0)
	w.query("ALTER TABLE a DROP y, MODIFY x BIGINT UNSIGNED")
	w.execute("SELECT * FROM a", 0)
	w.query("DROP TABLE a")
	w.execute("SELECT * FROM a", 0)
	w.closeStatement("SELECT * FROM a")
	w.ids["last"] = math.MaxUint32
	w.prepare("SELECT 'the last'")
	w.execute("last", 0)
	var many strings.Builder
	for range 2000 {
		many.WriteString("?,")
	}
	many.WriteString("?")
	w.prepare("SELECT " + many.String())
	var params []parameter
	for i := range 2001 {
		params = append(params, longlong(int64(i)), varString("x"))
	}
	w.execute("SELECT "+many.String(), 0, bind(params[:2001]...)...)
}

func playCursors(w *wire) {
	w.t.Helper()
	w.query("CREATE TABLE n SELECT seq AS i, REPEAT('v', 200) AS v FROM seq_1_to_300")
	first, second, none := "SELECT i, v FROM n ORDER BY i", "SELECT -i FROM n WHERE i < ? ORDER BY i", "SELECT i FROM n WHERE i < 0"
	for _, text := range []string{first, second, none} {
		w.prepare(text)
	}
	w.execute(first, 1)
	w.execute(second, 1, bind(longlong(20))...)
	w.fetch(first, 1)
	w.fetch(second, 5)
	w.query("SELECT 'in between'")
	w.query("INSERT INTO n VALUES (1000, 'x')")
	w.fetch(first, 200)
	w.fetch(second, 100) // the last one
	w.fetch(second, 1)
	w.fetch(first, 100)
	w.execute(none, 1)
	w.fetch(none, 3)
	w.execute(first, 1)
	w.resetStatement(first)
	w.fetch(first, 1)
	w.execute(first, 1)
	w.execute(first, 0)
	w.fetch(first, 1)
	for _, flags := range []byte{2, 4} {
		w.execute(none, flags)
	}
	w.query("CREATE PROCEDURE cursed() SELECT i FROM n LIMIT 3")
	w.prepare("CALL cursed()")
	w.execute("CALL cursed()", 1)
	w.resetStatement("CALL cursed()")
	w.prepare("UPDATE n SET v = 'u' WHERE i = 1")
	w.execute("UPDATE n SET v = 'u' WHERE i = 1", 1)
	w.query("BEGIN")
	w.execute(first, 1)
	w.fetch(first, 3)
	w.query("COMMIT")
	w.fetch(first, 3)
	w.closeStatement(first)
	w.query("SELECT 'after cursors'")
}

func playLongData(w *wire) {
	w.t.Helper()
	w.query("CREATE TABLE l (id INT PRIMARY KEY AUTO_INCREMENT, a LONGTEXT, b LONGBLOB)")
	insert := "INSERT INTO l (a, b) VALUES (?, ?)"
	w.prepare(insert)
	blob := parameter{kind: 252}
	for _, parts := range [][]string{{"abc"}, {""}, {"a", "", "b"}, {strings.Repeat("x", 100_000), strings.Repeat("y", 40_000)}} {
		for _, part := range parts {
			w.longData(insert, 1, part)
		}
		w.execute(insert, 0, bind(varString("a"), blob)...)
	}
	w.longData(insert, 0, "dropped")
	w.resetStatement(insert)
	w.longData(insert, 0, "one")
	w.longData(insert, 1, "two")
	w.execute(insert, 0, rebind()...)
	w.longData(insert, 7, "no such parameter")
	w.execute(insert, 0, bind(varString("a"), varString("b"))...)
	w.query("SELECT id, a, LENGTH(b), MD5(b) FROM l ORDER BY id")
	read := "SELECT LENGTH(?)"
	w.prepare(read)
	w.longData(read, 0, strings.Repeat("z", 70_000))
	w.execute(read, 0, bind(blob)...)
	w.resetStatement(insert)
	w.execute(insert, 0, bind(varString("a"), varString("b"))...)
}

func playFiles(w *wire) {
	w.t.Helper()
	w.query("CREATE TABLE f (id INT PRIMARY KEY AUTO_INCREMENT, s LONGTEXT)")
	w.files = map[string]string{
		"small": "a\nb\nc\n", "command": "\x02first\n\x01\n\x03SELECT 1\n", "large": strings.Repeat(strings.Repeat("z", 99)+"\n", 5000), "odd": "1\tx\n2\n",
	}
	for _, text := range []string{
		"LOAD DATA LOCAL INFILE 'small' INTO TABLE f (s)", "LOAD DATA LOCAL INFILE 'command' INTO TABLE f (s)", "LOAD DATA LOCAL INFILE 'large' INTO TABLE f (s)", "LOAD DATA LOCAL INFILE 'refused' INTO TABLE f (s)",
		"LOAD DATA LOCAL INFILE 'small' INTO TABLE f (s); SELECT 1; LOAD DATA LOCAL INFILE 'command' INTO TABLE f (s); SELECT 2", "LOAD DATA LOCAL INFILE 'small' INTO TABLE missing (s)",
		"LOAD DATA LOCAL INFILE 'small' INTO TABLE f (s); nonsense", "LOAD DATA LOCAL INFILE 'odd' INTO TABLE f", "SHOW WARNINGS", "SELECT COUNT(*), SUM(LENGTH(s)) FROM f",
	} {
		w.query(text)
	}
}

func playCommands(w *wire) {
	w.t.Helper()
	w.simple(mysql.ComPing, "")
	for _, arg := range []string{"s\x00", "s\x00v%", "missing\x00", "t16\x00", "s"} {
		w.fieldList(arg)
	}
	for _, schema := range []string{"shop", "missing", "wire", ""} {
		w.simple(mysql.ComInitDB, schema)
		w.query("SELECT DATABASE()")
	}
	w.query("USE shop")
	w.query("SELECT DATABASE()")
	w.query("USE `wire`")
	w.query("SELECT DATABASE() FOR UPDATE")
	w.simple(mysql.ComStmtReset, "\xff\xff\x00\x00")
	w.query("SET @x = 1, sql_mode = 'ANSI'")
	w.query("CREATE TEMPORARY TABLE tmp (a INT)")
	w.query("BEGIN")
	w.simple(mysql.ComResetConnection, "")
	for _, text := range []string{"SELECT @x", "SELECT * FROM tmp", "SELECT @@sql_mode", "SELECT LAST_INSERT_ID()", "SELECT DATABASE()"} {
		w.query(text)
	}
}

func playSizes(w *wire) {
	w.t.Helper()
	length := "SELECT LENGTH(?), MD5(?)"
	w.prepare(length)
	for _, n := range []int{0, 1, 250, 251, 4090, 16_374, 32_740, 32_743, 32_748, 32_764, 32_768, 65_535, 65_536, 70_000, 1 << 20} {
		text := strings.Repeat("q", n)
		w.query("SELECT '" + text + "' AS v")
		w.execute(length, 0, bind(varString(text), varString("x"))...)
		w.query(fmt.Sprintf("SELECT REPEAT('r', %d), 1", n))
	}
	for _, rows := range []int{10, 1000, 20_000} {
		w.query(fmt.Sprintf("SELECT seq, REPEAT('x', seq %% 300) FROM seq_1_to_%d", rows))
	}
	if w.caps&mysql.CapDeprecateEOF != 0 {
		w.query(fmt.Sprintf("SELECT REPEAT(0xFE, %d)", 1<<24)) // a row that begins as the end of rows does
		return                                                 // the other sizes beyond one packet are as without
	}
	echo := "SELECT LENGTH('')"
	const n = mysql.MaxFragment                // neighbours of this size are in liveLarge and in gateway/mysql
	text := strings.Repeat("p", n-1-len(echo)) // with the command byte n bytes
	w.query(echo[:len(echo)-2] + text + echo[len(echo)-2:])
	w.query(fmt.Sprintf("SELECT REPEAT('r', %d)", n-4)) // with its length n bytes
	w.prepare(echo[:len(echo)-2] + text + echo[len(echo)-2:])
	w.query("SELECT '" + strings.Repeat("q", 20<<20) + "' AS v")
	w.query("SELECT 'the end'")
}
