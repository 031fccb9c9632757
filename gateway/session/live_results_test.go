package session

import (
	"bytes"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/gateway/mysql"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// caches gives SELECTs of the table t a cache_ttl, so that a row which is written on the server behind the gateway's back shows whether
// a result is fresh.
func caches(text string, req *decisionv1.RouteStatementRequest) *decisionv1.RouteStatementResponse {
	a := split(text, req)
	if !strings.Contains(text, "FROM t") {
		return a
	}
	a.CacheTtlMs = proto.Uint32(3_600_000)
	switch {
	case strings.Contains(text, "'short'"):
		a.CacheTtlMs = proto.Uint32(20)
	case strings.Contains(text, "'never empty'"):
		a.CacheEmptyResult = new(false)
	}
	return a
}

func liveResultCache(t *testing.T, f *fleet) {
	t.Helper()
	g := startGateway(t, gatewayOptions{servers: f.servers(), answer: caches})
	const count = "SELECT COUNT(*) FROM t"
	write := func() { f.replica.Exec(t, "INSERT INTO shop.t (s) VALUES ('x')") }
	first := g.connect(t, "app") // later clients are offered what the servers can do, and have other flags
	first.expect(t, whoRead, "2")
	first.expect(t, whoWrite, "1")
	c := g.connect(t, "app")
	c.expect(t, count, "0")
	statements := g.metric(t, "statements_total")
	write()
	c.expect(t, count, "0")
	g.connect(t, "app").expect(t, count, "0") // any session of the user
	if n := g.metric(t, "statements_total"); n != statements {
		t.Errorf("%v statements were sent to servers", n-statements)
	}
	// Whoever sees another schema, other variables or other capabilities has results of their own.
	g.connect(t, "loose").expect(t, count, "1")
	write()
	other := g.connect(t, "app")
	other.exec(t, "SET time_zone = '+03:00'")
	other.expect(t, count, "2")
	other.exec(t, "SET time_zone = DEFAULT")
	f.replica.Exec(t, "CREATE TABLE IF NOT EXISTS other.t (a INT)")
	other.exec(t, "USE other")
	other.expect(t, count, "0")
	g.dial(t, "app", "shop").expectRow(t, count, "2") // another charset and other flags than the driver's

	t.Run("Held", func(t *testing.T) {
		c := g.connect(t, "app")
		c.expect(t, count, "0")
		c.exec(t, "BEGIN")
		c.expect(t, count+" -- FOR UPDATE", "0") // of the writer
		c.expect(t, count, "0")
		f.primary.Exec(t, "INSERT INTO shop.t (s) VALUES ('x'),('x'),('x')")
		c.exec(t, "COMMIT", "BEGIN")
		c.expect(t, count, "3")
		c.exec(t, "COMMIT")
		c.expect(t, count, "0") // the cached one again
		c.exec(t, "SET autocommit = 0")
		c.expect(t, count, "3")
		c.exec(t, "COMMIT", "SET autocommit = 1", "SET @x = 1")
		c.expect(t, count, "3") // held by the variable
	})
	t.Run("Time", func(t *testing.T) {
		const short = "SELECT COUNT(*), 'short' FROM t"
		r := g.dial(t, "app", "shop")
		before := r.response(t, short)
		write()
		eventually(t, "the result is fresh again", func() bool { return !bytes.Equal(r.response(t, short), before) })
	})
	t.Run("Empty", func(t *testing.T) {
		for query, kept := range map[string]bool{
			"SELECT 'never empty' FROM t WHERE s = 'new'": false, "SELECT id FROM t WHERE s = 'new'": true,
		} {
			f.replica.Exec(t, "DELETE FROM shop.t WHERE s = 'new'")
			r := g.dial(t, "app", "shop")
			r.expectRows(t, query, 0)
			f.replica.Exec(t, "INSERT INTO shop.t (s) VALUES ('new')")
			want := uint64(1)
			if kept {
				want = 0
			}
			r.expectRows(t, query, want)
		}
	})
	t.Run("NotKept", func(t *testing.T) {
		for _, query := range []string{
			"SELECT 1 + 'a' FROM t",                     // a warning
			"SELECT nothing FROM t",                     // an error
			"SELECT 1 FROM t; SELECT 2 FROM t",          // two results
			"SELECT SQL_CALC_FOUND_ROWS id FROM t",      // the next statement may ask for more
			"SELECT id FROM t FOR UPDATE",               // a lock
			"SELECT FOUND_ROWS() FROM t",                // depends on the statement before
			"SELECT REPEAT('x', 5 << 20) FROM t",        // too large
			"SELECT GET_LOCK('l', 0) FROM t",            // a lock
			"INSERT INTO t (s) SELECT 'x' FROM t",       // no read
			"SELECT id FROM t LIMIT 0 INTO OUTFILE '/'", // no read
		} {
			stored := g.Results.Stats().Stored
			r := g.dial(t, "app", "shop")
			_, _ = r.Exec(t.Context(), query) // some must fail
			if n := g.Results.Stats().Stored; n != stored {
				t.Errorf("%s: kept", query)
			}
		}
	})
	t.Run("SameBytes", func(t *testing.T) {
		r := g.dial(t, "app", "shop")
		const query = "SELECT id, s, NULL, 1.5 FROM t"
		hits := g.Results.Stats().Hits
		var first []byte
		for i := range 3 {
			got := r.response(t, query)
			if i == 0 {
				first = got
			}
			if len(got) < 100 || !bytes.Equal(got, first) {
				t.Errorf("time %d: %q, want %q", i, got, first)
			}
		}
		if n := g.Results.Stats().Hits - hits; n != 2 {
			t.Errorf("%d hits", n)
		}
	})
	cached := string(g.dial(t, "app", "shop").response(t, count))
	g.push(t, &configv1.WatchGatewayConfigResponse{
		Generation: 2, Sequence: 2, Settings: &configv1.Settings{QueryCacheSizeMb: proto.Uint32(0)},
	})
	eventually(t, "the cache is off", func() bool { return g.Results.Stats().Entries == 0 })
	write()
	if got := string(g.dial(t, "app", "shop").response(t, count)); got == cached {
		t.Errorf("answered from a cache that is off: %q", got)
	}
}

// response gives the bytes of the response to a query of less than 16 KiB, one result set.
func (r *raw) response(t *testing.T, query string) []byte {
	t.Helper()
	r.send(t, mysql.ComQuery, []byte(query)...)
	var all []byte
	for ends := 0; ends < 2; {
		p := r.read(t)
		all = append(all, p...)
		if p[0] == 0xff {
			t.Fatalf("%s: %q", query, p)
		}
		if p[0] == 0xfe && len(p) < 9 {
			if ends++; r.Conn.Capabilities&mysql.CapDeprecateEOF != 0 {
				ends++
			}
		}
	}
	return all
}

func (r *raw) expectRow(t *testing.T, query, want string) {
	t.Helper()
	if got := string(r.response(t, query)); !strings.Contains(got, string(rune(len(want)))+want) {
		t.Errorf("%s: %q, want %s", query, got, want)
	}
}

func (r *raw) expectRows(t *testing.T, query string, want uint64) {
	t.Helper()
	out, err := r.Exec(t.Context(), query)
	if err != nil || out.Rows != want {
		t.Errorf("%s: %d rows, %v, want %d", query, out.Rows, err, want)
	}
}
