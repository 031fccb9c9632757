package api

import (
	"context"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

const (
	// largeText is how many bytes a statement may have before it counts as large. The work that a statement may cost
	// grows with its length: made for the rules, one of 1 MB can take a good part of a second. Smaller ones count as
	// large while their user's are seen to be slow.
	largeText = 16 << 10

	// hugeText is how many bytes a statement may have before it no longer waits with the large ones, which it would hold
	// up for seconds.
	hugeText = 1 << 20

	// How many bytes of large and huge statements may wait or be decided in this server. A user has at most half of it.
	largeBytes = 128 << 20
	hugeBytes  = 384 << 20
)

// gate holds back statements that may take long, so that at most half of the processors (one for each lane at least)
// are busy with them.
type gate struct {
	large, huge *lane
	slow        slowUsers
}

func newGate() *gate {
	places := max(runtime.GOMAXPROCS(0)/2, 1)
	huge := max(places/2, 1)
	return &gate{
		large: newLane(max(places-huge, 1), largeBytes),
		huge:  newLane(huge, hugeBytes),
		slow:  newSlowUsers(),
	}
}

// way tells how a request is decided; salt tells the streams apart that take turns.
func (g *gate) way(req *decisionv1.RouteStatementRequest, salt uint64) way {
	n := textLength(req)
	if n < minSlowText { // nearly always
		return way{}
	}
	w := way{bytes: int64(n), user: g.slow.slot(req.GetSession().GetUsername())}
	w.turn = int((uint64(w.user) + salt) % slots)
	switch {
	case n > hugeText:
		w.lane = g.huge
	case n > largeText || g.slow.gates(w.user, n):
		w.lane = g.large
	}
	return w
}

// lane has the statements that wait together.
type lane struct {
	places chan struct{} // has an element for each that is decided
	// At most as many of a user (and stream) as there are places wait for one, so that users take turns.
	turns [slots]chan struct{}
	limit int64
	bytes *semaphore.Weighted
	users [slots]atomic.Int64 // how many of the bytes are theirs
}

func newLane(places int, limit int64) *lane {
	l := &lane{places: make(chan struct{}, places), limit: limit, bytes: semaphore.NewWeighted(limit)}
	for i := range l.turns {
		l.turns[i] = make(chan struct{}, places)
	}
	return l
}

// way is how a statement is decided: at once if it has no lane.
type way struct {
	lane       *lane
	bytes      int64
	user, turn int // slots
}

// reserve counts the bytes of a statement that has come, or gives a *busyError. release must follow if it does not.
func (w way) reserve() error {
	if w.lane == nil {
		return nil
	}
	mine := &w.lane.users[w.user]
	if mine.Add(w.bytes) > w.lane.limit/2 {
		mine.Add(-w.bytes)
		return &busyError{limit: w.lane.limit / 2, user: true}
	}
	if !w.lane.bytes.TryAcquire(w.bytes) {
		mine.Add(-w.bytes)
		return &busyError{limit: w.lane.limit}
	}
	return nil
}

func (w way) release() {
	if w.lane != nil {
		w.lane.bytes.Release(w.bytes)
		w.lane.users[w.user].Add(-w.bytes)
	}
}

// enter waits for a place. leave must follow if there is no error, which is the context's.
func (w way) enter(ctx context.Context) error {
	if w.lane == nil {
		return nil
	}
	if _, err := occupy(ctx, w.lane.turns[w.turn]); err != nil {
		return err
	}
	if _, err := occupy(ctx, w.lane.places); err != nil {
		<-w.lane.turns[w.turn]
		return err
	}
	return nil
}

func (w way) leave() {
	if w.lane != nil {
		<-w.lane.places
		<-w.lane.turns[w.turn]
	}
}

// textLength is how much there is to search in a request, in bytes.
func textLength(req *decisionv1.RouteStatementRequest) int {
	s := req.GetStatement()
	return max(len(s.GetText()), len(s.GetRawText()), len(s.GetDigestText()), len(s.GetRawDigestText()))
}
