package mysqltest

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql" // The driver of Server.DB.
)

const (
	startWait = 60 * time.Second // Generous: shared machines are slow at times.
	stopWait  = 20 * time.Second
)

// Server is a running mariadbd. Its root may log in from 127.0.0.1 without a password.
type Server struct {
	Port   int
	Addr   string // 127.0.0.1 and the port.
	Socket string
	DB     *sql.DB // Root's connections.

	dir  string
	args []string
	cmd  *exec.Cmd
	done chan struct{} // Closed when cmd has ended.
	exit error         // How it ended.
	log  *bytes.Buffer
}

// Installed says whether mariadbd and its installer are on PATH.
func Installed() bool {
	for _, name := range []string{"mariadbd", "mariadb-install-db"} {
		if _, err := exec.LookPath(name); err != nil {
			return false
		}
	}
	return true
}

// Start starts a server with further arguments, for instance "--server-id=1", "--log-bin", "--read-only", and stops it
// when the test ends. It skips the test where MariaDB is not installed.
func Start(tb testing.TB, args ...string) *Server {
	tb.Helper()
	if !Installed() {
		tb.Skip("mariadbd is not installed: needs Debian's mariadb-server, or another with mariadb-install-db on PATH")
	}
	// A socket's path must be short, which that of TempDir often is not.
	dir, err := os.MkdirTemp("", "mariadb") //nolint:usetesting // As said.
	if err != nil {
		tb.Fatalf("make a data directory: %v", err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &Server{dir: dir, args: args, Socket: filepath.Join(dir, "s.sock")}
	s.install(tb)
	s.Port = freePort(tb)
	s.Addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Port))
	s.Restart(tb)
	tb.Cleanup(func() { s.stop(tb) })
	return s
}

// DSN is root's data source name for go-sql-driver.
func (s *Server) DSN(schema string) string {
	return fmt.Sprintf("root@tcp(%s)/%s?multiStatements=true", s.Addr, schema)
}

// Exec runs statements as root, one after another on one connection.
func (s *Server) Exec(tb testing.TB, statements ...string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), startWait)
	defer cancel()
	conn, err := s.DB.Conn(ctx)
	if err != nil {
		tb.Fatalf("connect to %s: %v", s.Addr, err)
	}
	defer func() { _ = conn.Close() }()
	for _, statement := range statements {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			tb.Fatalf("%s: %v", statement, err)
		}
	}
}

// Kill ends the server as a crash would, and waits until it is gone.
func (s *Server) Kill(tb testing.TB) {
	tb.Helper()
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	<-s.done
	s.cmd = nil
}

// Restart starts the server on its old port and data, after Kill.
func (s *Server) Restart(tb testing.TB) {
	tb.Helper()
	args := append([]string{
		"--no-defaults", "--datadir=" + s.dir + "/data", "--socket=" + s.Socket, "--pid-file=" + s.dir + "/pid", "--tmpdir=" + s.dir,
		"--bind-address=127.0.0.1", "--port=" + strconv.Itoa(s.Port), "--skip-name-resolve",
		"--init-file=" + s.dir + "/init.sql", "--innodb-buffer-pool-size=16M", "--innodb-log-file-size=8M",
		"--innodb-flush-log-at-trx-commit=2", "--max-allowed-packet=64M", "--key-buffer-size=1M",
		"--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci", "--lc-messages=en_US",
	}, userArg()...)
	s.log = &bytes.Buffer{}
	s.cmd = exec.Command("mariadbd", append(args, s.args...)...) //nolint:gosec,noctx // The server outlives any context; stop ends it.
	s.cmd.Stdout, s.cmd.Stderr = s.log, s.log
	if err := s.cmd.Start(); err != nil {
		tb.Fatalf("start mariadbd: %v", err)
	}
	s.done = make(chan struct{})
	go func(cmd *exec.Cmd, done chan struct{}) {
		defer close(done)
		s.exit = cmd.Wait()
	}(s.cmd, s.done)
	s.awaitReady(tb)
}

func (s *Server) awaitReady(tb testing.TB) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), startWait)
	defer cancel()
	if s.DB == nil {
		db, err := sql.Open("mysql", s.DSN(""))
		if err != nil {
			tb.Fatalf("open %s: %v", s.Addr, err)
		}
		s.DB = db
		tb.Cleanup(func() { _ = db.Close() })
	}
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for {
		// The socket's file appears once the server accepts; before, the driver would log refused connections.
		if _, err := os.Stat(s.Socket); err == nil && s.DB.PingContext(ctx) == nil {
			return
		}
		select {
		case <-s.done:
			s.cmd = nil
			tb.Fatalf("mariadbd ended: %v\n%s", s.exit, s.log)
		case <-ctx.Done():
			s.stop(tb)
			tb.Fatalf("mariadbd is not ready after %v\n%s", startWait, s.log)
		case <-poll.C:
		}
	}
}

// stop shuts the server down, by force if it takes too long.
func (s *Server) stop(tb testing.TB) {
	tb.Helper()
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.done:
		s.cmd = nil
	case <-time.After(stopWait):
		s.Kill(tb)
	}
}

// install makes the data directory.
func (s *Server) install(tb testing.TB) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), startWait)
	defer cancel()
	init := "CREATE USER IF NOT EXISTS root@'127.0.0.1';GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;\n"
	if err := os.WriteFile(s.dir+"/init.sql", []byte(init), 0o600); err != nil {
		tb.Fatalf("write the init file: %v", err)
	}
	args := append([]string{
		"--no-defaults", "--datadir=" + s.dir + "/data", "--auth-root-authentication-method=normal", "--skip-test-db",
		"--skip-name-resolve", "--innodb-log-file-size=8M", "--innodb-buffer-pool-size=16M",
	}, userArg()...)
	cmd := exec.CommandContext(ctx, "mariadb-install-db", args...) //nolint:gosec // Fixed arguments.
	cmd.Env = append(os.Environ(), "TMPDIR="+s.dir)                // In a shared one, servers remove each other's tables at their start.
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("mariadb-install-db: %v\n%s", err, out)
	}
}

// userArg lets the server run as root where the tests do.
func userArg() []string {
	if os.Getuid() == 0 {
		return []string{"--user=root"}
	}
	return nil
}

// freePort finds a port that nobody listens on.
func freePort(tb testing.TB) int {
	tb.Helper()
	l, err := (&net.ListenConfig{}).Listen(tb.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("find a free port: %v", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port
}
