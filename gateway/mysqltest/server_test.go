package mysqltest

import "testing"

func TestStartTwoServersAndRestart(t *testing.T) {
	a := Start(t, "--server-id=7")
	b := Start(t, "--server-id=8", "--log-bin", "--read-only")
	for _, c := range []struct {
		s    *Server
		want int
	}{{a, 7}, {b, 8}} {
		var id int
		if err := c.s.DB.QueryRowContext(t.Context(), "SELECT @@server_id").Scan(&id); err != nil || id != c.want {
			t.Errorf("server_id = %d, %v, want %d", id, err, c.want)
		}
	}
	a.Exec(t, "CREATE DATABASE d", "CREATE TABLE d.t (i int)", "INSERT INTO d.t VALUES (42)")
	a.Kill(t)
	a.Restart(t)
	var i int
	if err := a.DB.QueryRowContext(t.Context(), "SELECT i FROM d.t").Scan(&i); err != nil {
		t.Errorf("after a restart: %v", err)
	}
}
