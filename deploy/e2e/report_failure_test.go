package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	gomysql "github.com/go-mysql-org/go-mysql/mysql"

	"github.com/pointsman/pointsman/gateway/mysqltest"
)

// proxysql #1748, #4217: KILL with the id of the greeting ends that session's statement and nobody else's, also on a server that
// takes its user by TLS only.
func (r *reports) Test26(t *testing.T) {
	for _, tt := range []struct {
		user   string
		server *mysqltest.Server
	}{
		{appUser, r.reader},
		{"u26", r.writer},
	} {
		victim, other, killer := r.wire(t, tt.user), r.wire(t, tt.user), r.wire(t, tt.user)
		victim.query("SELECT /* 26 */ SLEEP(60)")
		other.query("SELECT /* 26, too */ SLEEP(60)")
		running(t, tt.server, "SELECT /* 26%", 2)
		killer.do("KILL QUERY " + strconv.Itoa(int(victim.id)))
		victim.wantError(gomysql.ER_QUERY_INTERRUPTED)
		victim.do("SELECT 1") // The session goes on.
		running(t, tt.server, "SELECT /* 26%", 1)
		killer.send(gomysql.COM_PROCESS_KILL, number32(other.id)...)
		if res := killer.result(); res.err != nil {
			t.Errorf("COM_PROCESS_KILL: %v", res)
		}
		running(t, tt.server, "SELECT /* 26%", 0)
		other.wantCut()
		victim.do("SELECT 1")
		killer.query("KILL QUERY 4000000000")
		killer.wantError(gomysql.ER_NO_SUCH_THREAD)
	}
}

// proxysql #1180, #4636, vitess #7129: the statement of a client that has died ends, too.
func (r *reports) Test27(t *testing.T) {
	reset, closed := r.wire(t, appUser), r.wire(t, appUser)
	for _, w := range []*wire{reset, closed} {
		w.query("SELECT SLEEP(100) + 27")
	}
	running(t, r.reader, "SELECT SLEEP(100) + 27", 2)
	reset.drop()
	_ = closed.nc.Close()
	running(t, r.reader, "SELECT SLEEP(100) + 27", 0)
}

// proxysql #2912, #3109, MXS-5231: a connection that died between statements is replaced unseen.
func (r *reports) Test28(t *testing.T) {
	own := r.own["u28"].writer
	w := r.wire(t, "u28")
	for _, how := range []struct {
		name   string
		breaks func()
	}{
		{"killed on the server", func() {
			r.writer.Exec(t, "KILL "+w.run("SELECT CONNECTION_ID()").value())
		}},
		{"reset", own.cut},
	} {
		w.want("SELECT @@server_id", "1")
		how.breaks()
		w.want("SELECT @@server_id", "1")
		how.breaks()
		w.do("UPDATE n SET a = 1 WHERE a = 1") // Not a read either.

		// And what ended sessions leave behind.
		var leaving []*wire
		for range 5 {
			s := r.wire(t, "u28")
			s.want("SELECT @@server_id", "1")
			leaving = append(leaving, s)
		}
		for _, s := range leaving {
			s.send(gomysql.COM_QUIT)
			s.wantEnd()
		}
		how.breaks()
		for range 5 {
			r.wire(t, "u28").want("SELECT @@server_id", "1")
		}
	}
}

// proxysql #1031: a read is sent again while the client has got nothing, and never after.
func (r *reports) Test30(t *testing.T) {
	own := r.own["u30"]
	// The statement waits for a lock, wherever it goes.
	var locks []*sql.Conn
	for _, s := range []*mysqltest.Server{r.writer, r.reader} {
		s.Exec(t, "CREATE TABLE e2e.locked30 (a INT)")
		conn, err := s.DB.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		do(t, conn, "LOCK TABLES e2e.locked30 WRITE")
		locks = append(locks, conn)
	}
	const query = "SELECT COUNT(*) FROM locked30"
	w := r.wire(t, "u30")
	w.query(query)
	eventually(t, "the statement waits", patience, func() (bool, string) {
		return len(runningNow(t, r.writer, query))+len(runningNow(t, r.reader, query)) == 1, "nowhere"
	})
	own.writer.cut()
	own.reader.cut()
	for _, conn := range locks {
		do(t, conn, "UNLOCK TABLES")
	}
	if got := w.result().value(); got != "0" {
		t.Errorf("nothing was sent: %s, want 0", got)
	}

	const rows, size = 100, 1_000_000
	w = r.wire(t, "u30")
	w.query(fmt.Sprintf("SELECT REPEAT('x', %d) FROM seq_1_to_%d", size, rows))
	for i := range 4 { // Number of columns, column, end of columns, row.
		if _, err := w.read(); err != nil {
			t.Fatalf("packet %d: %v", i, err)
		}
	}
	connections := own.writer.accepted.Load() + own.reader.accepted.Load()
	own.writer.cut()
	own.reader.cut()
	for n := 1; ; n++ {
		row, err := w.read()
		if err != nil {
			if isTimeout(err) {
				t.Error(err)
			}
			break
		}
		if len(row) != size+4 || n >= rows {
			t.Errorf("after %d rows of %d: % x, want the end of the connection", n, rows, row[:min(len(row), 60)])
			break
		}
	}
	if got := own.writer.accepted.Load() + own.reader.accepted.Load(); got != connections {
		t.Errorf("%d further connections for a response that had begun", got-connections)
	}
}

// MXS-4505: a COMMIT whose answer is lost may have been done; nothing is done twice.
func (r *reports) Test31(t *testing.T) {
	r.writer.Exec(t, "CREATE TABLE e2e.once (a INT)")
	w := r.wire(t, "u31")
	own := r.own["u31"].writer
	own.loseAnswerTo("COMMIT")
	w.do("BEGIN", "INSERT INTO once VALUES (1)")
	w.query("COMMIT")
	w.wantEnd()
	own.loseAnswerTo("")
	r.want(t, "SELECT COUNT(*) FROM e2e.once", "1")

	w = r.wire(t, "u31") // A write by itself neither.
	own.loseAnswerTo("INSERT INTO once VALUES (2)")
	w.query("INSERT INTO once VALUES (2)")
	w.wantEnd()
	own.loseAnswerTo("")
	r.want(t, "SELECT COUNT(*) FROM e2e.once WHERE a = 2", "1")
}

// tiproxy #524, #1224, vitess #15971: a gateway that ends lets transactions end before, and tells its load balancer first.
func (r *reports) Test34(t *testing.T) {
	const sessions = 20
	r.writer.Exec(t, "CREATE TABLE e2e.drained (session INT, n INT, PRIMARY KEY (session, n))")
	g := newGateway(t, r.server, r.flags...)
	db := open(t, dsn(appUser, g.address))
	var running sync.WaitGroup
	var begun sync.WaitGroup
	begun.Add(sessions)
	committed := make([]int, sessions)
	for i := range sessions {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		running.Go(func() {
			defer func() { _ = conn.Close() }()
			for n := 0; ; n++ {
				tx, err := conn.BeginTx(t.Context(), nil)
				if err != nil {
					return // Between two transactions: that is where sessions end.
				}
				if n == 0 {
					begun.Done()
					begun.Wait()
				}
				if err := insertTwice(t.Context(), tx, i, n); err != nil {
					t.Errorf("session %d: transaction %d is broken off: %v", i, n, err)
					_ = tx.Rollback()
					return
				}
				committed[i] = n + 1
			}
		})
	}
	begun.Wait()
	g.signal(t, syscall.SIGTERM)
	running.Wait()
	if code := g.wait(t); code != 0 {
		t.Errorf("gateway: exit status %d, want 0", code)
	}
	total := 0
	for _, n := range committed {
		total += n
	}
	r.want(t, "SELECT COUNT(*) FROM e2e.drained", strconv.Itoa(2*total))
}

func insertTwice(ctx context.Context, tx *sql.Tx, session, n int) error {
	for i := range 2 {
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO drained VALUES (%d, %d)", session, 2*n+i)); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// tiproxy #195: the server of a client that does nothing is gone.
func (r *reports) Test35(t *testing.T) {
	own := r.own["u35"].writer
	idle, inTransaction := r.wire(t, "u35"), r.wire(t, "u35")
	idle.want("SELECT @@server_id", "1")
	inTransaction.do("BEGIN", "UPDATE n SET a = 2 WHERE a = 2")
	own.cut()
	idle.want("SELECT @@server_id", "1")
	// The other one is told at once or by its next statement, and never goes on as if nothing were lost.
	if err := inTransaction.write(append(header(7, 0), "\x03COMMIT"...)); err == nil {
		inTransaction.sequence = 1
		inTransaction.wantEnd()
	}
}

// tiproxy #366, proxysql #5402: one of two servers freezes.
func (r *reports) Test36(t *testing.T) {
	const sessions = 30
	own := r.own["u36"]
	r.wire(t, "u36").want("SELECT 1", "1")
	own.reader.freeze(true)
	tried := own.reader.accepted.Load()
	for range sessions {
		r.wire(t, "u36").want("SELECT @@server_id", "1")
	}
	if n := own.reader.accepted.Load() - tried; n > sessions/2 {
		t.Errorf("%d connections to a frozen server for %d sessions: it is not avoided", n, sessions)
	}
	own.reader.freeze(false)
	eventually(t, "sessions come back to the server", patience, func() (bool, string) {
		got := r.wire(t, "u36").run("SELECT @@server_id").value()
		return got == "2", "server " + got
	})
}

// tiproxy #214: a server that accepts connections and says nothing.
func (r *reports) Test37(t *testing.T) {
	w := r.wire(t, "u37")
	res := w.run("SELECT 1")
	if res.err == nil || res.err.Code != 9001 || !strings.Contains(res.err.Message, "hostgroup 300") {
		t.Errorf("%v, want error 9001 with hostgroup 300", res)
	}
	w.send(gomysql.COM_PING)
	if res := w.result(); res.err != nil {
		t.Errorf("the session does not go on: %v", res)
	}
	r.wire(t, appUser).want("SELECT @@server_id", "2")
}

// proxysql #1347: more clients than connections. All get their turn; where there is none, they are told why.
func (r *reports) Test38(t *testing.T) {
	const clients, most = 100, 4
	r.writer.Exec(t, "CREATE TABLE e2e.crowded (a INT PRIMARY KEY)")
	lock, err := r.writer.DB.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	const pattern = "INSERT INTO crowded%"
	sessions := make([]*wire, clients)
	for i := range sessions {
		sessions[i] = r.wire(t, "u38")
	}
	do(t, lock, "LOCK TABLES e2e.crowded WRITE")
	for i, w := range sessions {
		w.query(fmt.Sprintf("INSERT INTO crowded VALUES (%d)", i))
	}
	running(t, r.writer, pattern, most)
	do(t, lock, "UNLOCK TABLES")
	for _, w := range sessions { // They stay connected, and still let the others have their turn.
		if res := w.result(); res.err != nil {
			t.Fatal(res.err)
		}
	}
	r.want(t, "SELECT COUNT(*) FROM e2e.crowded", strconv.Itoa(clients))

	do(t, lock, "LOCK TABLES e2e.crowded WRITE")
	for i, w := range sessions[:2*most] {
		w.query(fmt.Sprintf("INSERT INTO crowded VALUES (%d)", clients+i))
	}
	running(t, r.writer, pattern, most)
	told := make(chan response, 2*most)
	for _, w := range sessions[:2*most] {
		go func() {
			res, err := w.tryResult()
			if err != nil {
				res.err = &gomysql.MyError{Message: err.Error()}
			}
			told <- res
		}()
	}
	for range most {
		if res := <-told; res.err == nil || res.err.Code != 9001 || !strings.Contains(res.err.Message, "hostgroup 302") {
			t.Errorf("%v, want error 9001 with hostgroup 302", res)
		}
	}
	do(t, lock, "UNLOCK TABLES")
	for range most {
		if res := <-told; res.err != nil {
			t.Error(res.err)
		}
	}
	for _, w := range sessions[:2*most] { // None was lost by it.
		w.want("SELECT 1", "1")
	}
}
