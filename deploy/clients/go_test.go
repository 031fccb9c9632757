package clients

import (
	"bytes"
	"context"
	"crypto/sha1"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	mysql "github.com/go-sql-driver/mysql"
)

// goSQLDriver plays the script with go-sql-driver: with prepared statements, then with parameters written into the text.
func goSQLDriver(t *testing.T, p *play, host, port string) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, interpolate := range []bool{false, true} {
		playGo(t, &out, p, net.JoinHostPort(host, port), interpolate)
	}
	return append(out.Bytes(), endOfScript...)
}

// playGo plays the script and leaves empty schemas.
func playGo(t *testing.T, out io.Writer, p *play, address string, interpolate bool) {
	t.Helper()
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = user, password, "tcp", address, schema
	c.Timeout, c.ReadTimeout, c.WriteTimeout = patience, patience, patience
	c.MultiStatements, c.MaxAllowedPacket, c.AllowAllFiles = true, 64<<20, true
	c.InterpolateParams, c.ParseTime, c.ClientFoundRows = interpolate, interpolate, interpolate
	if err := c.Apply(mysql.Charset("utf8mb4", "")); err != nil {
		t.Fatal(err)
	}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer func() { _ = db.Close() }()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	g := &goPlayer{ctx: t.Context(), out: out, conn: conn, dir: p.dir, interpolate: interpolate, prepared: map[string]*sql.Stmt{}, texts: map[string]string{}}
	for i, s := range p.steps {
		fmt.Fprintf(out, "> %d %.300s\n", i+1, s.encode())
		g.step(s)
	}
	for _, name := range []string{other, schema} {
		g.do("DROP DATABASE " + name)
		g.do("CREATE DATABASE " + name)
	}
}

// goPlayer plays the script on one connection.
type goPlayer struct {
	ctx         context.Context //nolint:containedctx // It is that of the one run.
	out         io.Writer
	conn        *sql.Conn
	tx          *sql.Tx
	dir         string // Of the files that LOAD DATA names.
	interpolate bool
	prepared    map[string]*sql.Stmt
	texts       map[string]string // Of statements prepared, to be interpolated.
}

func (g *goPlayer) step(s step) {
	text := string(s.text.bytes())
	switch s.op {
	case "query", "raw", "stream":
		g.query(strings.Replace(text, "INFILE '", "INFILE '"+g.dir+"/", 1))
	case "prepare":
		g.close(s.name)
		g.texts[s.name] = text
		if !g.interpolate {
			stmt, err := g.conn.PrepareContext(g.ctx, text)
			if err != nil {
				g.failed(err)
				return
			}
			g.prepared[s.name] = stmt
		}
	case "execute", "cursor", "long":
		args := make([]any, len(s.params))
		for i, p := range s.params {
			args[i] = goArgument(p)
		}
		if g.interpolate {
			g.query(g.texts[s.name], args...)
		} else if stmt := g.prepared[s.name]; stmt != nil {
			rows, err := stmt.QueryContext(g.ctx, args...)
			g.results(rows, err)
		}
	case "close":
		g.close(s.name)
	case "begin":
		tx, err := g.conn.BeginTx(g.ctx, nil)
		g.failed(err)
		g.tx = tx
	case "commit", "rollback":
		if g.tx != nil {
			end := g.tx.Commit
			if s.op == "rollback" {
				end = g.tx.Rollback
			}
			g.failed(end())
			g.tx = nil
		}
	case "use":
		g.do("USE " + s.name)
	case "charset":
		g.do("SET NAMES " + s.name)
	case "ping":
		g.failed(g.conn.PingContext(g.ctx))
	case "warnings":
		g.query("SHOW WARNINGS")
	default:
		fmt.Fprintln(g.out, "not played")
	}
}

// goArgument is a parameter as programs give it.
func goArgument(p param) any {
	text := string(p.text.bytes())
	switch p.kind {
	case 'n':
		return nil
	case 'i':
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
		return text
	case 'd':
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return math.NaN()
		}
		return f
	case 'b':
		return []byte(text)
	}
	return text
}

func (g *goPlayer) close(name string) {
	if stmt := g.prepared[name]; stmt != nil {
		g.failed(stmt.Close())
		delete(g.prepared, name)
	}
}

// do runs a statement as one without rows, and prints its counts.
func (g *goPlayer) do(text string) {
	err := g.conn.Raw(func(c any) error {
		result, err := c.(driver.ExecerContext).ExecContext(g.ctx, text, nil)
		if err == nil {
			r := result.(mysql.Result)
			fmt.Fprintln(g.out, "affected", r.AllRowsAffected(), "ids", r.AllLastInsertIds())
		}
		return err
	})
	g.failed(err)
}

// query runs a statement; one that does not look like it has rows by do.
func (g *goPlayer) query(text string, args ...any) {
	first, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch strings.ToUpper(first) {
	case "INSERT", "UPDATE", "DELETE", "REPLACE", "LOAD", "CALL":
		if !strings.Contains(text, "RETURNING") && len(args) == 0 {
			g.do(text)
			return
		}
	}
	rows, err := g.conn.QueryContext(g.ctx, text, args...)
	g.results(rows, err)
}

// results prints all results.
func (g *goPlayer) results(rows *sql.Rows, err error) {
	if err != nil {
		g.failed(err)
		return
	}
	for {
		types, err := rows.ColumnTypes()
		if err != nil {
			g.failed(err)
		}
		for _, c := range types {
			precision, scale, _ := c.DecimalSize()
			length, _ := c.Length()
			nullable, _ := c.Nullable()
			fmt.Fprintln(g.out, "column", c.Name(), c.DatabaseTypeName(), c.ScanType(), precision, scale, length, nullable)
		}
		values := make([]any, len(types))
		for i := range values {
			values[i] = new(any)
		}
		n := 0
		for rows.Next() {
			if err := rows.Scan(values...); err != nil {
				g.failed(err)
			}
			fmt.Fprint(g.out, "row")
			for _, v := range values {
				fmt.Fprint(g.out, " ", goShow(*v.(*any)))
			}
			fmt.Fprintln(g.out)
			n++
		}
		fmt.Fprintln(g.out, "rows", n)
		if !rows.NextResultSet() {
			break
		}
	}
	g.failed(rows.Err())
	_ = rows.Close()
}

func goShow(v any) string {
	switch v := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		if len(v) > 300 {
			return fmt.Sprintf("%d bytes %x", len(v), sha1.Sum(v))
		}
		return fmt.Sprintf("bytes %x", v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	default:
		return fmt.Sprintf("%T %v", v, v)
	}
}

func (g *goPlayer) failed(err error) {
	var refused *mysql.MySQLError
	switch {
	case err == nil:
	case errors.As(err, &refused):
		fmt.Fprintf(g.out, "error %d %s %s\n", refused.Number, refused.SQLState, refused.Message)
	default:
		fmt.Fprintf(g.out, "error %v\n", err)
	}
}
