package session

import (
	"bytes"
	"fmt"
	"time"

	"github.com/pointsman/pointsman/decision/selection"
	"github.com/pointsman/pointsman/gateway/mirror"
	"github.com/pointsman/pointsman/gateway/mysql"
)

const (
	// maxMirrored is the longest statement that is mirrored, in bytes.
	maxMirrored = 15 << 20

	// mirrorTimeout is the longest time limit of a copy: one that hangs holds a place of others.
	mirrorTimeout = time.Minute
)

// mirror sends a copy of a statement, as it is sent to its own server, on the way that the answer says.
func (s *session) mirror(cmd *mysql.Command, st *statement) {
	to := st.answer.GetMirror()
	if to == nil || to.GetDestinationHostgroup() < 0 { // rules answer the copy
		return
	}
	if !cmd.Complete || len(st.text) > maxMirrored {
		s.Mirror.Fail(fmt.Errorf("a statement of more than %d bytes", min(len(st.text), maxMirrored)))
		return
	}
	snap := s.Snapshots.Current()
	hg := snap.Hostgroup(to.GetDestinationHostgroup())
	if hg == nil {
		s.Mirror.Fail(fmt.Errorf("hostgroup %d has no servers in generation %d", to.GetDestinationHostgroup(), snap.Generation))
		return
	}
	i := s.draw(hg, &snap.Settings, selection.Set{}, nil)
	if i < 0 {
		s.Mirror.Fail(fmt.Errorf("no server of hostgroup %d is eligible", hg.ID))
		return
	}
	limit := timeLimitOf(st)
	if limit <= 0 || limit > mirrorTimeout {
		limit = mirrorTimeout
	}
	s.Mirror.Send(
		mirror.Copy{
			Text: bytes.Clone(st.text), Target: s.target(hg.Servers[i].Addr, s.state.schema, snap.Settings.ConnectTimeoutServer), Timeout: limit,
		},
		mirror.Limits{Running: int(snap.Settings.MirrorMaxConcurrency), Waiting: int(snap.Settings.MirrorMaxQueueLength)},
	)
}
