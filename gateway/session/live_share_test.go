package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	driver "github.com/go-sql-driver/mysql"
	"google.golang.org/protobuf/proto"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// liveShare has many sessions share few connections, and each look at what is its own.
func liveShare(t *testing.T, f *fleet) {
	t.Helper()
	const sessions, connections, statements = 12, 4, 120
	servers := f.servers()
	servers[0].MaxConnections = proto.Int64(connections)
	g := startGateway(t, gatewayOptions{
		servers:  servers,
		settings: &configv1.Settings{Multiplexing: new(true), AutoIncrementDelayMultiplex: proto.Uint32(2), ConnectTimeoutServerMax: proto.Uint32(30_000)},
		answer: func(text string, r *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
			a := toWriter(text, r)
			if strings.HasPrefix(text, "SELECT @@") {
				a.Multiplex = proto.Uint32(2) // such a look ties nobody
			}
			return a
		},
	})
	var all sync.WaitGroup
	for i := range sessions {
		all.Go(func() {
			v := &visitor{t: t, g: g, random: rand.New(rand.NewPCG(uint64(i), 5)), name: fmt.Sprint("v", i)}
			defer v.leave()
			for n := 0; n < statements && !t.Failed(); n++ {
				v.step()
			}
		})
	}
	all.Wait()
	if n := g.counter(t, "pool_reused_total", "handed_over"); n < sessions {
		t.Errorf("%v connections handed over", n)
	}
	if created := g.metric(t, "pool_created_total"); created > statements*sessions/4 {
		t.Errorf("%v logins", created)
	}
}

// counter gives one counter by the value of its only label.
func (g *testGateway) counter(t *testing.T, name, label string) float64 {
	t.Helper()
	families, err := g.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "pointsman_gateway_"+name && m.GetLabel()[0].GetValue() == label {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}

// visitor is a client that knows what its session must be like.
type visitor struct {
	t      *testing.T
	g      *testGateway
	random *rand.Rand
	name   string

	db   *sql.DB
	conn *sql.Conn
	did  []string // since the login

	schema, limit, variable, temporary, id, mode string
}

func (v *visitor) enter() {
	v.schema = [...]string{"", "shop", "other"}[v.random.IntN(3)]
	db, err := sql.Open("mysql", "app:secret@tcp("+v.g.addr+")/"+v.schema+"?multiStatements=true")
	if err == nil {
		v.db = db
		v.conn, err = db.Conn(v.t.Context())
	}
	if err != nil {
		v.t.Errorf("login: %v", err)
		return
	}
	v.did = []string{"login with schema " + v.schema}
	v.limit, v.variable, v.temporary, v.id = "18446744073709551615", "NULL", "", "0"
	v.mode = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_CREATE_USER,NO_ENGINE_SUBSTITUTION"
}

func (v *visitor) leave() {
	if v.conn != nil {
		_ = errors.Join(v.conn.Close(), v.db.Close()) // the session may have ended
	}
	v.conn = nil
}

func (v *visitor) exec(text string) {
	ctx, cancel := context.WithTimeout(v.t.Context(), wait)
	defer cancel()
	v.did = append(v.did, text)
	if _, err := v.conn.ExecContext(ctx, text); err != nil {
		v.t.Errorf("%s %s: %v\nafter %q", v.name, text, err, v.did)
	}
}

// look tells what a query has in its first row and column; "none" without rows.
func (v *visitor) look(query string) (string, error) {
	ctx, cancel := context.WithTimeout(v.t.Context(), wait)
	defer cancel()
	v.did = append(v.did, query)
	var value, rest sql.NullString
	var err error
	if strings.HasPrefix(query, "SHOW WARNINGS") {
		var level string
		err = v.conn.QueryRowContext(ctx, query).Scan(&level, &value, &rest)
	} else {
		err = v.conn.QueryRowContext(ctx, query).Scan(&value)
	}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "none", nil
	case err == nil && !value.Valid:
		return "NULL", nil
	}
	return value.String, err
}

func (v *visitor) expect(query, want string) {
	got, err := v.look(query)
	if err != nil || got != want {
		v.t.Errorf("%s: %s gave %q, %v, want %q\nafter %q", v.name, query, got, err, want, v.did)
	}
}

// expectCount looks at a count of rows, which may be refused but never be wrong.
func (v *visitor) expectCount(query, want string) {
	got, err := v.look(query)
	var told *driver.MySQLError
	if errors.As(err, &told) && told.Number == codeHandedOver {
		return
	}
	if err != nil || got != want {
		v.t.Errorf("%s: %s gave %q, %v, want %q\nafter %q", v.name, query, got, err, want, v.did)
	}
}

// step does one random thing.
func (v *visitor) step() {
	if v.conn == nil {
		v.enter()
		return
	}
	switch n := v.random.IntN(100); v.random.IntN(18) {
	case 0:
		v.limit = strconv.Itoa(100 + n)
		v.exec("SET sql_select_limit = " + v.limit)
	case 1:
		v.mode = [...]string{"ANSI_QUOTES", "NO_ZERO_DATE", ""}[n%3]
		v.exec("SET sql_mode = '" + v.mode + "'")
	case 2:
		v.schema = [...]string{"shop", "other"}[n%2]
		v.exec("USE " + v.schema)
	case 3:
		v.exec("INSERT INTO shop.t (s) VALUES ('" + v.name + "')")
		v.expectCount("SELECT ROW_COUNT()", "1")
		id, err := v.look("SELECT MAX(id) FROM shop.t WHERE s = '" + v.name + "'")
		if err != nil {
			v.t.Errorf("%s: %v", v.name, err)
		}
		v.id = id
	case 4:
		v.exec("BEGIN")
		v.exec("INSERT INTO shop.t (id, s) VALUES (NULL, 'rolled back " + v.name + "')")
		v.expect("SELECT COUNT(*) FROM shop.t WHERE s = 'rolled back "+v.name+"'", "1")
		id, err := v.look("SELECT LAST_INSERT_ID()")
		if v.id = id; err != nil {
			v.t.Errorf("%s: %v", v.name, err)
		}
		v.exec("ROLLBACK")
	case 5:
		v.expect("SELECT CAST('x"+strconv.Itoa(n)+"' AS INT)", "0")
		v.expect("SHOW WARNINGS", "1292")
	case 6:
		v.expect("SELECT COUNT(*) FROM shop.n", "5")
		v.expect("SHOW WARNINGS", "none")
	case 7:
		if n < 20 {
			v.variable = v.name
			v.exec("SET @v = '" + v.name + "'")
		}
	case 8:
		if n < 20 && v.temporary == "" {
			v.temporary = v.name
			v.exec("CREATE TEMPORARY TABLE shop.mine AS SELECT '" + v.name + "' AS a")
		}
	case 9:
		v.expect("SELECT @v", v.variable)
	case 10:
		if v.temporary != "" {
			v.expect("SELECT a FROM shop.mine", v.temporary)
		} else if _, err := v.look("SELECT a FROM shop.mine"); err == nil {
			v.t.Errorf("%s sees the temporary table of another\nafter %q", v.name, v.did)
		}
	case 11:
		v.expect("SELECT LAST_INSERT_ID()", v.id)
	case 12:
		v.expect("SELECT a FROM shop.n WHERE a <= 3 ORDER BY a", "1")
		v.expectCount("SELECT FOUND_ROWS()", "3")
	case 13:
		v.expect("SELECT IFNULL(DATABASE(), '')", v.schema)
	case 14:
		v.expect("SELECT @@sql_select_limit", v.limit)
	case 15:
		v.expect("SELECT @@sql_mode", v.mode)
	case 16:
		v.expect("SELECT IS_USED_LOCK('"+v.name+"')", "NULL")
	case 17:
		if n < 50 || v.variable != "NULL" || v.temporary != "" { // such a session keeps its connection
			v.leave()
		}
	}
}
