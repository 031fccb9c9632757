package demo

import (
	"database/sql"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// startServers serves until the test ends, and gives the addresses of the primary and of the replica.
func startServers(t *testing.T) (primary, replica string) {
	t.Helper()
	var listeners [2]net.Listener
	for i := range listeners {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners[i] = l
	}
	ended := make(chan error, 1)
	go func() { ended <- Serve(t.Context(), listeners[0], listeners[1]) }()
	t.Cleanup(func() { // The context has ended by then.
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return listeners[0].Addr().String(), listeners[1].Addr().String()
}

// connect gives connections to the server at address. The listener is there already, so none is refused.
func connect(t *testing.T, address string) *sql.DB {
	t.Helper()
	db, err := sql.Open("mysql", "demo:demo@tcp("+address+")/demo")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestServersTellWhichOneAnswers(t *testing.T) {
	primary, replica := startServers(t)
	for _, c := range []struct {
		name, address string
		want          int
	}{{"primary", primary, 1}, {"replica", replica, 2}} {
		t.Run(c.name, func(t *testing.T) {
			db := connect(t, c.address)
			for _, query := range []string{"SELECT @@server_id", "SELECT @@server_id FOR UPDATE"} {
				var id int
				if err := db.QueryRowContext(t.Context(), query).Scan(&id); err != nil || id != c.want {
					t.Errorf("%s = %d, %v; want %d", query, id, err, c.want)
				}
			}
		})
	}
}

func TestReplicaShowsThePrimarysRowsAndTakesNone(t *testing.T) {
	primaryAddress, replicaAddress := startServers(t)
	primary, replica := connect(t, primaryAddress), connect(t, replicaAddress)
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
	address, _ := startServers(t)
	db, err := sql.Open("mysql", "demo:wrong@tcp("+address+")/demo")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var refused *mysql.MySQLError
	if err := db.PingContext(t.Context()); !errors.As(err, &refused) || refused.Number != 1045 {
		t.Errorf("login with a wrong password: %v, want error 1045", err)
	}
}

func TestFilesAreOutOfReach(t *testing.T) {
	address, _ := startServers(t)
	primary := connect(t, address)
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
