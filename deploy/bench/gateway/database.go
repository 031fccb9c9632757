package gateway

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// As whom and where sysbench works.
const (
	user     = "bench"
	password = "bench-password"
	schema   = "sbtest"
)

// startDatabase installs and starts a MariaDB that holds everything in memory as far as it can.
func (s *stand) startDatabase(ctx context.Context) error {
	data := filepath.Join(s.dir, "mariadb")
	install := []string{"--no-defaults", "--datadir=" + data, "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"}
	if out, err := exec.CommandContext(ctx, "mariadb-install-db", append(install, asRoot()...)...).CombinedOutput(); err != nil { //nolint:gosec // fixed arguments
		return fmt.Errorf("mariadb-install-db: %w\n%s", err, out)
	}
	// One statement a line.
	init := strings.Join([]string{
		"CREATE DATABASE IF NOT EXISTS " + schema + ";",
		"CREATE USER IF NOT EXISTS " + user + "@'127.0.0.1' IDENTIFIED BY '" + password + "';",
		"GRANT ALL ON *.* TO " + user + "@'127.0.0.1';", "",
	}, "\n")
	file := filepath.Join(s.dir, "init.sql")
	if err := os.WriteFile(file, []byte(init), 0o600); err != nil {
		return fmt.Errorf("write MariaDB's init file: %w", err)
	}
	args := []string{
		"--no-defaults", "--datadir=" + data, "--socket=" + filepath.Join(s.dir, "db.sock"), "--pid-file=" + filepath.Join(s.dir, "db.pid"),
		"--bind-address=127.0.0.1", "--port=" + strconv.Itoa(s.database), "--skip-name-resolve", "--init-file=" + file,
		"--max-connections=3000", "--back-log=1000", "--innodb-buffer-pool-size=64M", "--innodb-flush-log-at-trx-commit=0",
	}
	_, err := s.start(ctx, func(ctx context.Context) error { return answers(ctx, s.database) }, "mariadbd", append(args, asRoot()...)...)
	return err
}

// asRoot lets the server run as root where the benchmark does.
func asRoot() []string {
	if os.Getuid() == 0 {
		return []string{"--user=root"}
	}
	return nil
}
