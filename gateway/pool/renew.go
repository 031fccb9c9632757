package pool

import (
	"context"
	"fmt"
	"strings"

	"github.com/pointsman/pointsman/gateway/mysql"
)

// Trackers makes a server report what a statement changes in its session.
const Trackers = "SET SESSION session_track_system_variables='*', session_track_state_change=ON, session_track_schema=ON"

// Renew makes the connection what a new login as t would be, with the schema that is in force on it: transactions, locks,
// variables, temporary tables and prepared statements end, and the trackers are set. All commands go in one write. Servers
// differ in whether a reset drops the schema, so it is set anew. Without t it is what the server makes of a reset: that drops
// what a login sets by its flags. After an error, of whatever kind, the connection is not usable.
func (b *BackendConn) Renew(ctx context.Context, t *Target, schema string) error {
	commands := make([]mysql.OwnCommand, 0, 3)
	commands = append(commands, mysql.OwnCommand{Code: mysql.ComResetConnection})
	if b.ServerCapabilities&mysql.CapSessionTrack != 0 {
		commands = append(commands, mysql.OwnCommand{Code: mysql.ComQuery, Arg: b.setup(t)})
	}
	if schema != "" {
		commands = append(commands, mysql.OwnCommand{Code: mysql.ComInitDB, Arg: []byte(schema)})
	}
	return b.Conn.Within(ctx, func() error {
		_, err := b.Conn.ExecAll(commands...)
		return err
	})
}

// setup gives the SET that follows a reset: the trackers, and what a login sets by its flags and collation while a reset goes
// back to the server's global values.
func (b *BackendConn) setup(t *Target) []byte {
	set := Trackers
	if t == nil {
		return []byte(set)
	}
	flags := b.Conn.Capabilities
	if flags&mysql.CapInteractive != 0 {
		set += ", wait_timeout=@@GLOBAL.interactive_timeout"
	}
	if flags&mysql.CapIgnoreSpace != 0 {
		set += ", sql_mode=CONCAT(@@GLOBAL.sql_mode,IF(@@GLOBAL.sql_mode='','',','),'IGNORE_SPACE')"
	}
	if !strings.Contains(b.ServerVersion, "MariaDB") { // which keeps the collation of the login
		id := t.charset()
		set += fmt.Sprintf(", character_set_client=%d, character_set_results=%d, collation_connection=%d", id, id, id)
	}
	return []byte(set)
}
