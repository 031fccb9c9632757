package e2e

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	mysql "github.com/go-sql-driver/mysql"
)

// goScript is the script of go-sql-driver: with prepared statements, then with parameters written into the text.
func goScript(t *testing.T, host, port string) string {
	t.Helper()
	var out strings.Builder
	for _, interpolate := range []bool{false, true} {
		config, err := mysql.ParseDSN(dsn(ctlUser, net.JoinHostPort(host, port)))
		if err != nil {
			t.Fatal(err)
		}
		config.InterpolateParams, config.ParseTime, config.ClientFoundRows = interpolate, interpolate, interpolate
		conn, err := open(t, config.FormatDSN()).Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		(&goRun{ctx: t.Context(), out: &out, conn: conn}).script()
		_ = conn.Close()
	}
	return out.String() + endOfScript
}

// goRun prints what comes back of statements on one connection.
type goRun struct {
	ctx  context.Context //nolint:containedctx // It is that of the one run.
	out  io.Writer
	conn *sql.Conn
}

func (r *goRun) script() {
	r.exec("DROP TABLE IF EXISTS go_script")
	r.exec("CREATE TABLE go_script (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, small TINYINT, big BIGINT UNSIGNED, ratio DOUBLE, flt FLOAT, amount DECIMAL(20, 5), " +
		"word VARCHAR(50) UNIQUE, raw LONGBLOB, day DATE, clock TIME(6), moment DATETIME(6), stamp TIMESTAMP NULL, bits BIT(3), y YEAR, doc JSON)")
	moment := time.Date(1999, 12, 31, 23, 59, 59, 999999000, time.UTC)
	r.exec("INSERT INTO go_script (small, big, ratio, flt, amount, word, raw, day, clock, moment, bits, y, doc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		-128, uint64(1<<64-1), 1e-300, float32(1.5), "-123456789.12345", "ünï 'q' \\", []byte{0, 255, 39, 92, 10}, moment, "-838:59:59.000001", moment, 5, 2024, `{"a": 1}`)
	r.exec("INSERT INTO go_script (small) VALUES (?), (?)", nil, 7)
	for _, query := range []string{
		"SELECT * FROM go_script", "SELECT id, word, at, data FROM fixed", "SELECT 1; SELECT id FROM fixed; SELECT 'third', NULL",
		"SELECT * FROM nowhere", "SELECT nothing FROM fixed", "SELEC 1", "SELECT 1; SELECT * FROM nowhere; SELECT 3", "SELECT id FROM fixed WHERE FALSE",
	} {
		r.query(query)
	}
	r.query("SELECT ?, ?, ?, ?, id FROM fixed WHERE id = ?", 1, "text", nil, 2.5, 2)
	r.query("SELECT id, word FROM go_script WHERE id = ? AND ? IS NOT NULL", 1, moment)
	r.exec("INSERT INTO go_script (word) VALUES (?), (?)", "dup", "dup")
	r.exec("UPDATE go_script SET small = 7 WHERE id >= ?", 2)
	r.exec("UPDATE go_script SET small = 7 WHERE id >= ?", 2)
	value := strings.Repeat("\x00\xff'\\", large/4)
	r.exec("INSERT INTO go_script (word, raw) VALUES ('large', ?)", []byte(value))
	r.query("SELECT LENGTH(raw), raw FROM go_script WHERE word = ?", "large")

	stmt, err := r.conn.PrepareContext(r.ctx, "SELECT id, ? FROM fixed WHERE id <= ?")
	r.print("prepare", err)
	if err == nil {
		for _, args := range [][]any{{"text", 1}, {5, 2}, {nil, 3}} {
			rows, err := stmt.QueryContext(r.ctx, args...)
			r.rows(rows, err)
			r.query("SELECT COUNT(*) FROM go_script")
		}
		r.print("close", stmt.Close())
	}
	for _, end := range []func(*sql.Tx) error{(*sql.Tx).Rollback, (*sql.Tx).Commit} {
		tx, err := r.conn.BeginTx(r.ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		r.print("begin", err)
		if err != nil {
			continue
		}
		_, err = tx.ExecContext(r.ctx, "INSERT INTO go_script (word) VALUES (?)", "transaction")
		r.print("insert", err)
		rows, err := tx.QueryContext(r.ctx, "SELECT COUNT(*) FROM fixed") //nolint:sqlclosecheck // rows does.
		r.rows(rows, err)
		r.print("end", end(tx))
		r.query("SELECT COUNT(*) FROM go_script WHERE word = ?", "transaction")
	}
	mysql.RegisterReaderHandler("rows", func() io.Reader { return strings.NewReader("100\tloaded\n101\t\\N\n") })
	r.exec("LOAD DATA LOCAL INFILE 'Reader::rows' INTO TABLE go_script (id, word)")
	r.query("SELECT id, word FROM go_script WHERE id >= 100 ORDER BY id")
	mysql.DeregisterReaderHandler("rows")
	r.print("ping", r.conn.PingContext(r.ctx))
}

func (r *goRun) exec(query string, args ...any) {
	r.statement(query, args)
	result, err := r.conn.ExecContext(r.ctx, query, args...)
	if err != nil {
		r.print("exec", err)
		return
	}
	id, idErr := result.LastInsertId()
	n, nErr := result.RowsAffected()
	r.print(fmt.Sprintf("id %d, %d rows", id, n), errors.Join(idErr, nErr))
}

func (r *goRun) query(query string, args ...any) {
	r.statement(query, args)
	rows, err := r.conn.QueryContext(r.ctx, query, args...) //nolint:sqlclosecheck,rowserrcheck // rows does.
	r.rows(rows, err)
}

func (r *goRun) statement(query string, args []any) {
	fmt.Fprintf(r.out, "> %s (%d arguments)\n", query, len(args))
}

// rows prints all results and closes them.
func (r *goRun) rows(rows *sql.Rows, err error) {
	if err != nil {
		r.print("query", err)
		return
	}
	defer func() { _ = rows.Close() }()
	for more := true; more; more = rows.NextResultSet() {
		types, err := rows.ColumnTypes()
		r.print("columns", err)
		values := make([]any, len(types))
		for i, c := range types {
			length, hasLength := c.Length()
			nullable, hasNullable := c.Nullable()
			precision, scale, hasPrecision := c.DecimalSize()
			fmt.Fprintln(r.out, "column", c.Name(), c.DatabaseTypeName(), c.ScanType(), length, hasLength, nullable, hasNullable, precision, scale, hasPrecision)
			values[i] = new(any)
		}
		for rows.Next() {
			if err := rows.Scan(values...); err != nil {
				r.print("scan", err)
				break
			}
			for _, v := range values {
				r.value(*v.(*any))
			}
			fmt.Fprintln(r.out)
		}
	}
	r.print("rows", rows.Err())
}

func (r *goRun) value(v any) {
	if b, ok := v.([]byte); ok && len(b) > 1000 {
		fmt.Fprintf(r.out, " %d bytes %x", len(b), sha256.Sum256(b))
		return
	}
	fmt.Fprintf(r.out, " %T %q", v, fmt.Sprint(v))
}

func (r *goRun) print(what string, err error) {
	var refused *mysql.MySQLError
	switch {
	case err == nil:
		fmt.Fprintln(r.out, what)
	case errors.As(err, &refused):
		fmt.Fprintf(r.out, "%s: error %d %s %s\n", what, refused.Number, refused.SQLState, refused.Message)
	default:
		fmt.Fprintf(r.out, "%s: %v\n", what, err)
	}
}
