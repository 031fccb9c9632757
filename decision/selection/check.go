package selection

import "math"

// bounds are what a server's latency and lag are held against.
type bounds struct {
	latencyUS uint64 // to be below, where the server has no limit of its own
	lagMS     int64  // not to be above
}

func (l *Limits) bounds() bounds {
	b := bounds{latencyUS: uint64(l.DefaultMaxLatencyMS) * 1000, lagMS: math.MaxInt64}
	if l.HasMaxLag {
		b.lagMS = int64(l.MaxLagMS)
	}
	return b
}

// maxLatency gives the us that the latency must be below.
func (b bounds) maxLatency(c *Candidate) uint64 {
	if c.MaxLatencyUS > 0 {
		return c.MaxLatencyUS
	}
	return b.latencyUS
}

// unfit says which of a server's latency and lags is beyond its limit.
func (b bounds) unfit(c *Candidate) Kind {
	switch {
	case c.CurrentLatencyUS >= b.maxLatency(c) && c.CurrentLatencyUS > 0:
		return TooSlow
	case c.CurrentReplicationLag > int64(c.MaxReplicationLag) && c.MaxReplicationLag > 0:
		return TooFarBehind
	case c.LagMS > b.lagMS:
		return TooStale
	default:
		return Passed
	}
}

// view is one look at a list of candidates: who may be drawn, as far as the steps taken so far say.
type view struct {
	limits   *Limits
	excluded Set
	bounds   bounds

	tooMany   bool   // more servers are ONLINE than may be
	noWriter  bool   // the writer of an Aurora cluster is left out
	desperate bool   // shunned servers come back sooner
	mean      uint64 // us; a latency above is out; 0: no matter
}

// recovery says whether and how a server that is not ONLINE comes back.
type recovery uint8

const (
	stays recovery = iota
	recovers
	recoversInDespair
)

func (v *view) recovery(c *Candidate) recovery {
	if c.Status != Shunned || !c.ShunnedAutomatic {
		return stays
	}
	// ProxySQL forgets this in its second, desperate pass. A server whose connections are still being closed is no
	// better for being the last one, so there is one rule for both.
	if c.KillAll && (c.CurrentConnections > 0 || c.ConnsFree > 0) {
		return stays
	}
	quiet := v.limits.NowSec - c.LastErrorSec
	switch {
	case v.limits.ShunRecoveryTimeSec > 0 && quiet > v.limits.wait(1):
		return recovers
	case v.desperate && quiet > v.limits.wait(10):
		return recoversInDespair
	default:
		return stays
	}
}

// check says whether the candidate at place i is one, and if not, why.
func (v *view) check(i int, c *Candidate) Kind {
	if v.excluded.Has(i) {
		return Excluded
	}
	back := stays
	if c.Status != Online {
		if back = v.recovery(c); back == stays {
			return NotOnline
		}
	} else if c.CurrentConnections >= c.MaxConnections { // A server that just came back may exceed it once.
		return TooManyConnections
	}
	if k := v.bounds.unfit(c); k != Passed {
		return k
	}
	switch {
	case v.tooMany:
		return TooManyOnline
	case v.noWriter && c.AuroraLagUS == 0 && back != recoversInDespair:
		return Writer
	case v.mean > 0 && c.CurrentLatencyUS > v.mean:
		return AboveMean
	default:
		return Passed
	}
}

// isBack reports whether a server that was not ONLINE is so now, by what check said of it.
func isBack(c *Candidate, k Kind) bool { return c.Status != Online && k != Excluded && k != NotOnline }
