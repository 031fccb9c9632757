package demo

import (
	"context"
	"fmt"
	"net"
	"os"

	sqle "github.com/dolthub/go-mysql-server"
	"github.com/dolthub/go-mysql-server/memory"
	"github.com/dolthub/go-mysql-server/server"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/vitess/go/mysql"
)

// Who may log in, from anywhere by mysql_native_password, and the schema that is there.
const (
	user     = "demo"
	password = "demo"
	schema   = "demo"
)

// version is what both servers greet with, the same as their @@version.
const version = "8.0.31"

// notes is the table to play with, the same that the quick start makes on real servers.
const notes = "CREATE TABLE notes (id INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(200) NOT NULL, written_by INT NOT NULL)"

// Serve answers on both listeners until ctx ends, and closes them. User and password are both "demo", and so is the
// schema. The servers tell themselves apart by @@server_id: 1 is the primary, 2 the replica. An error says that a server
// could not be started, or ended by itself.
func Serve(ctx context.Context, primary, replica net.Listener) error {
	defer primary.Close() //nolint:errcheck // closed with its server, as a rule
	defer replica.Close() //nolint:errcheck // closed with its server, as a rule
	// Neither the disk nor anything on it is part of the demo.
	if err := sql.SystemVariables.AssignValues(map[string]any{"secure_file_priv": os.DevNull}); err != nil {
		return fmt.Errorf("set secure_file_priv: %w", err)
	}
	provider, err := data(ctx)
	if err != nil {
		return err
	}
	var servers []*server.Server
	defer func() {
		for _, s := range servers {
			_ = s.Close()
		}
	}()
	ended := make(chan error, 2)
	for _, c := range []struct {
		id       uint32
		listener net.Listener
	}{{1, primary}, {2, replica}} {
		s, err := newServer(provider, c.id, c.listener)
		if err != nil {
			return fmt.Errorf("serve %s: %w", c.listener.Addr(), err)
		}
		servers = append(servers, s)
		go func() { ended <- s.Start() }() // ends when the server is closed
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		return fmt.Errorf("a server ended: %w", err)
	}
}

// data makes the database that both servers show.
func data(ctx context.Context) (*memory.DbProvider, error) {
	db := memory.NewDatabase(schema)
	db.EnablePrimaryKeyIndexes()
	provider := memory.NewDBProvider(db)
	sqlCtx := sql.NewContext(ctx, sql.WithSession(memory.NewSession(sql.NewBaseSession(), provider)))
	sqlCtx.SetCurrentDatabase(schema)
	_, rows, _, err := sqle.NewDefault(provider).Query(sqlCtx, notes)
	if err == nil {
		_, err = sql.RowIterToRows(sqlCtx, rows)
	}
	if err != nil {
		return nil, fmt.Errorf("make table notes: %w", err)
	}
	return provider, nil
}

// newServer makes a server on listener. Only the one with id 1 takes writes.
func newServer(provider *memory.DbProvider, id uint32, listener net.Listener) (*server.Server, error) {
	engine := sqle.New(analyzer.NewDefault(provider), &sqle.Config{IsReadOnly: id != 1})
	editor := engine.Analyzer.Catalog.MySQLDb.Editor()
	engine.Analyzer.Catalog.MySQLDb.AddSuperUser(editor, user, "%", password)
	editor.Close()

	// The engine has one set of global variables for the whole process, so each session gets the id of its server.
	newSession := memory.NewSessionBuilder(provider)
	withID := func(ctx context.Context, conn *mysql.Conn, addr string) (sql.Session, error) {
		session, err := newSession(ctx, conn, addr)
		if err != nil {
			return nil, err
		}
		return session, session.InitSessionVariable(sql.NewContext(ctx, sql.WithSession(session)), "server_id", id)
	}
	return server.NewServer(server.Config{Listener: listener, Version: version}, engine, sql.NewContext, withID, nil)
}
