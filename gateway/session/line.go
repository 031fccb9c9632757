package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pointsman/pointsman/decision/selection"
	"github.com/pointsman/pointsman/gateway/mysql"
	"github.com/pointsman/pointsman/gateway/pool"
)

// lookAgain is how often a statement that stands in line looks whether the configuration or a server's state offers another
// way, and calls in one more idle connection.
const lookAgain = 200 * time.Millisecond

// standInLine waits for a place at one of the servers of a place, all of which are full, and takes it. Where that is not what
// is wrong it only waits a moment. Neither a connection nor an error: look again.
func (s *session) standInLine(ctx context.Context, st *statement, at *place, f *search, left time.Duration) (drawn, *backend, error) {
	rooms := s.rooms(at, f.maxLagMS)
	if len(rooms) == 0 {
		return drawn{}, nil, pause(ctx, min(retryInterval, left))
	}
	want := s.want("", f.schema)
	w, err := s.pool.Queue(&want, rooms)
	var full *pool.QueueFullError
	switch {
	case errors.As(err, &full):
		return drawn{}, nil, mysql.NewError(codeUnreachable, "HY000", "No connection to %s: %s, and %v", at.String(), s.inUse(rooms), full)
	case err != nil:
		return drawn{}, nil, err
	case w == nil:
		return drawn{}, nil, nil // there is room again
	}
	defer w.Leave()
	over := time.NewTimer(left)
	defer over.Stop()
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for {
		s.yield(time.Now()) // what the others wait for
		select {
		case grant := <-w.Granted():
			return s.granted(ctx, grant, rooms, &want, at.snap.Settings.ConnectTimeoutServer)
		case <-ctx.Done():
			return drawn{}, nil, ctx.Err()
		case <-over.C:
			s.pool.GaveUp()
			return drawn{}, nil, nil
		case <-again.C:
			now, err := s.destination(ctx, st)
			if err != nil {
				return drawn{}, nil, err
			}
			if _, ok, err := s.drawAt(now, nil, f.maxLagMS); ok || err != nil || !slices.Equal(rooms, s.rooms(now, f.maxLagMS)) {
				return drawn{}, nil, err
			}
			w.CallIn()
		}
	}
}

// granted makes use of the place that was waited for.
func (s *session) granted(ctx context.Context, grant pool.Grant, rooms []pool.Room, want *pool.Want, timeout time.Duration) (drawn, *backend, error) {
	d := drawn{key: serverKey{grant.Row.Hostgroup, grant.Row.Addr}}
	for _, room := range rooms {
		if room.Row == grant.Row {
			d.maxConnections = room.Max
		}
	}
	s.direct(want, d.key.addr)
	if b := s.backends.open[d.key]; b != nil {
		s.backends.drop(b) // it was not fit for use, or the session would not have waited
	}
	s.makeRoom(ctx)
	b, err := s.occupy(ctx, d.key, s.pool.Accept(grant, d.maxConnections, want), want, timeout)
	return d, b, err
}

// rooms gives the servers of a place that would be eligible if they were not full.
func (s *session) rooms(at *place, maxLagMS *uint32) []pool.Room {
	if at.awaited > 0 {
		return nil
	}
	var rooms []pool.Room
	limits := limitsOf(&at.snap.Settings, maxLagMS)
	if len(at.pools) > 0 {
		return s.poolRooms(at, &limits)
	}
	hg := at.snap.Hostgroup(at.hostgroup)
	if hg == nil {
		return nil
	}
	limits.MaxNumOnlineServers = hg.MaxNumOnlineServers
	for i := range hg.Servers {
		var others selection.Set
		for other := range hg.Servers {
			if other != i {
				others.Add(other)
			}
		}
		if s.outages.paused(hg.Servers[i].Addr) || hg.Candidates.Count(&limits, others, nil) == 0 {
			continue
		}
		rooms = append(rooms, pool.Room{Row: pool.Row{Hostgroup: hg.ID, Addr: hg.Servers[i].Addr}, Max: hg.Candidates.At(i).MaxConnections})
	}
	return rooms
}

func (s *session) poolRooms(at *place, limits *selection.Limits) []pool.Room {
	var rooms []pool.Room
	none := func(int) uint32 { return 0 }
	view := at.snap.View(s.listener)
	for _, name := range at.pools {
		members := view.Pool(name)
		if members == nil {
			continue
		}
		for _, i := range members.Rows() {
			r := &at.snap.Rows[i]
			room := pool.Room{Row: pool.Row{Hostgroup: r.Hostgroup, Addr: r.Addr}, Max: r.MaxConnections}
			if !s.outages.out(r.Addr) && members.Allows(i, limits, nil, none) && !slices.Contains(rooms, room) {
				rooms = append(rooms, room)
			}
		}
	}
	return rooms
}

// inUse says for errors how many connections are in use.
func (s *session) inUse(rooms []pool.Room) string {
	var n uint64
	for _, room := range rooms {
		n += uint64(s.pool.Used(room.Row))
	}
	return fmt.Sprintf("all %d connections to its servers are in use", n)
}

// waiting counts the statements that stand in line for some of the rooms.
func (s *session) waiting(rooms []pool.Room) (n int) {
	hostgroups := map[int32]bool{}
	for _, room := range rooms {
		if !hostgroups[room.Row.Hostgroup] {
			hostgroups[room.Row.Hostgroup] = true
			n += s.pool.Waiting(room.Row)
		}
	}
	return n
}
