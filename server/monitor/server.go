package monitor

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"

	"github.com/pointsman/pointsman/decision"
)

// failuresToDown is how many failures in a row make a server unavailable.
const failuresToDown = 3

// watched is one server under watch. One goroutine at a time has it.
type watched struct {
	addr     string
	db       *sql.DB
	overTLS  bool
	known    bool // it was seen at least once, or found unavailable
	state    decision.ServerState
	failures int  // in a row
	refused  bool // the last answer was an error
}

// note takes the outcome of a look.
func (w *watched) note(ctx context.Context, role string, err error, log *slog.Logger) {
	before := w.state
	_, refused := errors.AsType[*refusedError](err)
	switch {
	case err == nil:
		w.state = decision.ServerState{MemberRole: role}
	case refused:
		w.state.Unavailable = ""
	default:
		if w.failures++; w.failures >= failuresToDown {
			w.state.Unavailable = "monitor: " + err.Error()
		}
	}
	if err == nil || refused {
		w.failures = 0
	}
	w.known = w.known || err == nil || w.state.Unavailable != ""

	if refused && !w.refused {
		log.WarnContext(ctx, "a server is up, but the monitor can't learn its role", "server", w.addr, "error", err)
	}
	w.refused = refused
	switch {
	case w.state.Unavailable != "" && before.Unavailable == "":
		log.WarnContext(ctx, "a server is unavailable", "server", w.addr, "error", err)
	case w.state.Unavailable != "":
		w.state.Unavailable = before.Unavailable // the first cause, so that nothing changes while it lasts
	case before.Unavailable != "":
		log.InfoContext(ctx, "a server is available again", "server", w.addr, "role", w.state.MemberRole)
	case before.MemberRole != w.state.MemberRole:
		log.InfoContext(ctx, "a server has a role", "server", w.addr, "role", w.state.MemberRole, "before", before.MemberRole)
	}
}
