package monitor

import (
	"context"
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// The roles that a server's read_only tells.
const (
	primary   = "PRIMARY"
	secondary = "SECONDARY"
)

// serverShutdown is the one error of a server that says that it is going away.
const serverShutdown = 1053

// refusedError says that a server answered, but not with what was asked for.
type refusedError struct{ err error }

func (e *refusedError) Error() string { return e.err.Error() }
func (e *refusedError) Unwrap() error { return e.err }

// open prepares a connection to a server, over TLS unless config is nil; it does not connect. Passwords never go over the network in clear text: the
// driver refuses the plugin for that.
func open(addr, user, password string, config *tls.Config) (*sql.DB, error) {
	c := mysql.NewConfig()
	c.Net, c.Addr, c.User, c.Passwd = "tcp", addr, user, password
	c.TLS = config // a server without TLS is an error then
	c.ConnectionAttributes = "program_name:pointsman-monitor"
	c.Logger = &mysql.NopLogger{} // what it would say is in the errors
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("monitor %s: %w", addr, err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	return db, nil
}

// role asks a server for its role. super_read_only is not asked for: it implies read_only. The error is a *refusedError if
// the server is up.
func role(ctx context.Context, db *sql.DB) (string, error) {
	var readOnly string
	err := db.QueryRowContext(ctx, "SELECT @@global.read_only").Scan(&readOnly)
	if answer, ok := errors.AsType[*mysql.MySQLError](err); ok && answer.Number != serverShutdown {
		return "", &refusedError{err}
	}
	if err != nil {
		return "", err
	}
	if readOnly == "0" || strings.EqualFold(readOnly, "OFF") {
		return primary, nil
	}
	return secondary, nil // MariaDB 12 has several kinds of it
}
