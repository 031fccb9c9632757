package mirror

import (
	"context"
	"errors"
	"time"

	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/pool"
)

// maxConnections bounds what one worker keeps.
const maxConnections = 4

// login names what a connection was made for. All else of the target is a matter of taste for results that nobody reads.
type login struct{ addr, user string }

// connections are those of one worker, free between two copies.
type connections struct{ open []connection }

type connection struct {
	login
	secret mysql.Secret
	conn   *pool.BackendConn
}

// exec runs a copy in a session that knows nothing of earlier ones. An [*mysql.Error] is the server's answer to it, or to its login.
func (cs *connections) exec(ctx context.Context, c *Copy) error {
	b, err := cs.take(ctx, &c.Target)
	if err != nil {
		return err
	}
	if c.Target.DB != "" {
		if _, err := b.InitDB(ctx, c.Target.DB); err != nil {
			return cs.after(ctx, c, b, err)
		}
	}
	_, err = b.Exec(ctx, string(c.Text))
	return cs.after(ctx, c, b, err)
}

// take gives a connection: one that is there, or a new one.
func (cs *connections) take(ctx context.Context, t *pool.Target) (*pool.BackendConn, error) {
	key := login{t.Addr, t.User}
	for i, o := range cs.open {
		if o.login != key {
			continue
		}
		cs.open = append(cs.open[:i], cs.open[i+1:]...)
		if o.secret == t.Secret && o.conn.Alive() {
			return o.conn, nil
		}
		_ = o.conn.Close() // it is given up in any case
		break
	}
	return pool.Dial(ctx, *t)
}

// after keeps the connection for later, with its session begun anew, when it is still usable.
func (cs *connections) after(ctx context.Context, c *Copy, b *pool.BackendConn, result error) error {
	if _, told := errors.AsType[*mysql.Error](result); result != nil && !told {
		_ = b.Conn.Close()                                                   // broken, or in the middle of a response: no goodbye
		if ctx.Err() != nil || errors.Is(result, context.DeadlineExceeded) { // the connection's own timer may be the faster one
			kill(ctx, c, b)
		}
		return result
	}
	if _, err := b.ResetConnection(ctx); err != nil {
		_ = b.Conn.Close()
		return result // that of the copy counts
	}
	if len(cs.open) >= maxConnections {
		_ = cs.open[0].conn.Close() // it is given up in any case
		cs.open = cs.open[1:]
	}
	cs.open = append(cs.open, connection{login{c.Target.Addr, c.Target.User}, c.Target.Secret, b})
	return result
}

// killTimeout limits the end of a copy that took too long.
const killTimeout = time.Second

// kill ends a copy that the server would go on with.
func kill(ctx context.Context, c *Copy, b *pool.BackendConn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killTimeout)
	defer cancel()
	_ = pool.Kill(ctx, c.Target, b.ThreadID, true) // as far as that is possible
}

func (cs *connections) close() {
	for _, o := range cs.open {
		_ = o.conn.Close() // nobody waits for it
	}
}
