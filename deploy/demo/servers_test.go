package main

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// startServers serves on free ports until the test ends, and gives connections to the primary and to the replica.
func startServers(t *testing.T) (primary, replica *sql.DB) {
	t.Helper()
	addresses := []string{freeAddress(t), freeAddress(t)}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, addresses[0], addresses[1]) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return connect(t, addresses[0]), connect(t, addresses[1])
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it has served its purpose
	return l.Addr().String()
}

// connect waits until the server at address answers.
func connect(t *testing.T, address string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", "demo:demo@tcp("+address+")/demo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	_ = mysql.SetLogger(&mysql.NopLogger{})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for {
		err := db.PingContext(ctx)
		if err == nil {
			return db
		}
		select {
		case <-ctx.Done():
			t.Fatalf("connect to %s: %v", address, err)
		case <-poll.C:
		}
	}
}

func TestServersTellWhichOneAnswers(t *testing.T) {
	primary, replica := startServers(t)
	for _, c := range []struct {
		name string
		db   *sql.DB
		want int
	}{{"primary", primary, 1}, {"replica", replica, 2}} {
		t.Run(c.name, func(t *testing.T) {
			for _, query := range []string{"SELECT @@server_id", "SELECT @@server_id FOR UPDATE"} {
				var id int
				if err := c.db.QueryRowContext(t.Context(), query).Scan(&id); err != nil || id != c.want {
					t.Errorf("%s = %d, %v; want %d", query, id, err, c.want)
				}
			}
		})
	}
}

func TestReplicaShowsThePrimarysRowsAndTakesNone(t *testing.T) {
	primary, replica := startServers(t)
	const insert = "INSERT INTO notes (text, written_by) VALUES (?, @@server_id)"
	if _, err := primary.ExecContext(t.Context(), insert, "hello"); err != nil {
		t.Fatal(err)
	}
	var text string
	var by int
	err := replica.QueryRowContext(t.Context(), "SELECT text, written_by FROM notes").Scan(&text, &by)
	if err != nil || text != "hello" || by != 1 {
		t.Errorf("the replica has (%q, %d), %v; want (\"hello\", 1)", text, by, err)
	}
	if _, err := replica.ExecContext(t.Context(), insert, "no"); err == nil {
		t.Error("the replica took a write")
	}
}

func TestWrongPasswordIsRefused(t *testing.T) {
	address := freeAddress(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, address, freeAddress(t)) }()
	connect(t, address)
	db, err := sql.Open("mysql", "demo:wrong@tcp("+address+")/demo")
	if err != nil {
		t.Fatal(err)
	}
	var refused *mysql.MySQLError
	if err := db.PingContext(t.Context()); !errors.As(err, &refused) || refused.Number != 1045 {
		t.Errorf("login with a wrong password: %v, want error 1045", err)
	}
	_ = db.Close()
	stop()
	if err := <-ended; err != nil {
		t.Errorf("serve: %v", err)
	}
}

func TestFilesAreOutOfReach(t *testing.T) {
	primary, _ := startServers(t)
	path := filepath.Join(t.TempDir(), "rows")
	if _, err := primary.ExecContext(t.Context(), "SELECT 'x' INTO OUTFILE '"+path+"'"); err == nil {
		t.Error("INTO OUTFILE was taken")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("INTO OUTFILE wrote a file")
	}
	if err := os.WriteFile(path, []byte("x\t1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := primary.ExecContext(t.Context(), "LOAD DATA INFILE '"+path+"' INTO TABLE notes (text, written_by)"); err == nil {
		t.Error("LOAD DATA INFILE was taken")
	}
}

func TestTakenPort(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // it has served its purpose
	if err := serve(t.Context(), freeAddress(t), l.Addr().String()); err == nil {
		t.Error("serve on a taken port: no error")
	}
}
