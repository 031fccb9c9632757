package selection

import "fmt"

// Kind says what turned a candidate down.
type Kind uint8

// The kinds, in the order in which they are looked for.
const (
	// Passed is the kind of an eligible candidate.
	Passed Kind = iota
	// Excluded by the caller.
	Excluded
	// NotOnline and does not come back yet.
	NotOnline
	// TooManyConnections are in use.
	TooManyConnections
	// TooSlow is a latency that is not below its limit.
	TooSlow
	// TooFarBehind is a replication lag above max_replication_lag.
	TooFarBehind
	// TooStale is a lag above the max_lag_ms that the statement demands.
	TooStale
	// TooManyOnline servers in the hostgroup.
	TooManyOnline
	// Writer of an Aurora cluster whose replicas are fresh enough.
	Writer
	// AboveMean is a latency above the mean of many candidates.
	AboveMean
	// NoWeight is a weight of 0.
	NoWeight
)

// Reason says why a candidate was turned down, with the numbers.
type Reason struct {
	Kind   Kind
	Status Status // of the candidate
	Value  uint64 // what was measured, in Limit's unit
	Limit  uint64 // what it was held against
}

// String gives text for people, such as "status SHUNNED".
func (r Reason) String() string {
	switch r.Kind {
	case Passed:
		return "eligible"
	case Excluded:
		return "excluded by the caller"
	case NotOnline:
		return "status " + r.Status.String()
	case TooManyConnections:
		return fmt.Sprintf("connections %d of max_connections %d", r.Value, r.Limit)
	case TooSlow:
		return fmt.Sprintf("latency %d us is not below %d us", r.Value, r.Limit)
	case TooFarBehind:
		return fmt.Sprintf("replication lag %d s is above max_replication_lag %d s", r.Value, r.Limit)
	case TooStale:
		return fmt.Sprintf("lag %d ms is above max_lag_ms %d", r.Value, r.Limit)
	case TooManyOnline:
		return fmt.Sprintf("%d servers of the hostgroup are ONLINE, more than max_num_online_servers %d", r.Value, r.Limit)
	case Writer:
		return "writer, and replicas within max_lag_ms are there"
	case AboveMean:
		return fmt.Sprintf("latency %d us is above the mean of %d us", r.Value, r.Limit)
	case NoWeight:
		return "weight 0"
	default:
		return fmt.Sprintf("reason %d", r.Kind)
	}
}

// Explain appends one reason for each candidate to reasons. A draw with the same arguments can give exactly those
// whose Kind is Passed.
func Explain(reasons []Reason, cands []Candidate, limits *Limits, excluded Set) []Reason {
	v, t := look(cands, limits, excluded)
	for i := range cands {
		reasons = append(reasons, v.reason(i, &cands[i], &t))
	}
	return reasons
}

// Count gives how many candidates a draw with the same arguments chooses from.
func Count(cands []Candidate, limits *Limits, excluded Set) int {
	v, _ := look(cands, limits, excluded)
	n := 0
	for i := range cands {
		if c := &cands[i]; c.Weight > 0 && v.check(i, c) == Passed {
			n++
		}
	}
	return n
}

// Eligible reports whether a candidate could be drawn if it were the only one, and if not, why. Among others it may
// still lose to a demand that concerns them all; see [Explain].
func Eligible(c *Candidate, limits *Limits) (bool, Reason) {
	alone := [1]Candidate{*c}
	v, t := look(alone[:], limits, nil)
	r := v.reason(0, c, &t)
	return r.Kind == Passed, r
}

func (v *view) reason(i int, c *Candidate, t *tally) Reason {
	r := Reason{Kind: v.check(i, c), Status: c.Status}
	if r.Kind == Passed && c.Weight == 0 {
		r.Kind = NoWeight
	}
	switch r.Kind {
	case TooManyConnections:
		r.Value, r.Limit = uint64(c.CurrentConnections), uint64(c.MaxConnections)
	case TooSlow:
		r.Value, r.Limit = c.CurrentLatencyUS, v.bounds.maxLatency(c)
	case TooFarBehind:
		r.Value, r.Limit = uint64(c.CurrentReplicationLag), uint64(c.MaxReplicationLag)
	case TooStale:
		r.Value, r.Limit = uint64(c.LagMS), uint64(v.limits.MaxLagMS)
	case TooManyOnline:
		r.Value, r.Limit = uint64(t.online), uint64(v.limits.MaxNumOnlineServers)
	case AboveMean:
		r.Value, r.Limit = c.CurrentLatencyUS, v.mean
	default:
	}
	return r
}
