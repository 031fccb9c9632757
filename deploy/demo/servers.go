package main

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

// serve answers on both addresses until ctx ends.
func serve(ctx context.Context, primary, replica string) error {
	// Neither the disk nor anything on it is part of the demo.
	if err := sql.SystemVariables.AssignValues(map[string]any{"secure_file_priv": os.DevNull}); err != nil {
		return fmt.Errorf("set secure_file_priv: %w", err)
	}
	provider, err := data()
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
		id      uint32
		address string
	}{{1, primary}, {2, replica}} {
		s, err := newServer(ctx, provider, c.id, c.address)
		if err != nil {
			return fmt.Errorf("listen on %s: %w", c.address, err)
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
func data() (*memory.DbProvider, error) {
	db := memory.NewDatabase(schema)
	db.EnablePrimaryKeyIndexes()
	provider := memory.NewDBProvider(db)
	ctx := sql.NewContext(context.Background(), sql.WithSession(memory.NewSession(sql.NewBaseSession(), provider)))
	ctx.SetCurrentDatabase(schema)
	_, rows, _, err := sqle.NewDefault(provider).Query(ctx, notes)
	if err == nil {
		_, err = sql.RowIterToRows(ctx, rows)
	}
	if err != nil {
		return nil, fmt.Errorf("make table notes: %w", err)
	}
	return provider, nil
}

// newServer listens on address. Only the server with id 1 takes writes.
func newServer(ctx context.Context, provider *memory.DbProvider, id uint32, address string) (*server.Server, error) {
	engine := sqle.New(analyzer.NewDefault(provider), &sqle.Config{IsReadOnly: id != 1})
	editor := engine.Analyzer.Catalog.MySQLDb.Editor()
	engine.Analyzer.Catalog.MySQLDb.AddSuperUser(editor, user, "%", password)
	editor.Close()

	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
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
