package state

import (
	"fmt"

	"github.com/pointsman/pointsman/store"
)

// Kind says how the configuration in force relates to what was published last.
type Kind int

// The kinds.
const (
	// Empty: nothing was published, or nothing has been read yet.
	Empty Kind = iota
	// Current: what was published last is in force, or about to be.
	Current
	// Stale: what was published last is refused, the last valid generation is in force.
	Stale
	// Invalid: what was published is refused and no generation is in force.
	Invalid
)

var kindNames = [...]string{Empty: "none", Current: "current", Stale: "stale", Invalid: "invalid"}

// String gives the word for logs and metrics.
func (k Kind) String() string { return kindNames[k] }

// State is what is known at one moment.
type State struct {
	Kind Kind
	// Running is the generation in force here, 0 for none.
	Running uint64
	// Newest is the newest generation seen in the store, or brought from disk; 0 for none.
	Newest uint64
	// Rejection is the publication that was refused after the newest generation, nil for none. Do not change it.
	Rejection *store.Rejection
	// Problem is why Newest is not in force here; empty when it is.
	Problem string
}

// Cause says for people why the state is Stale or Invalid; empty when it is neither.
func (s *State) Cause() string {
	switch {
	case s.Kind != Stale && s.Kind != Invalid:
		return ""
	case s.Rejection == nil:
		return s.Problem
	default:
		return "the last publication was refused: " + summary(s.Rejection)
	}
}

// summary names the first error and says how many there are.
func summary(r *store.Rejection) string {
	if len(r.Problems) == 0 {
		return "the record has no problems"
	}
	p := &r.Problems[0]
	first := p.Message
	if p.Path != "" {
		first = p.Path + ": " + first
	}
	if r.ProblemCount == 1 {
		return first
	}
	return fmt.Sprintf("%d problems, the first one: %s", r.ProblemCount, first)
}

// facts are what the state follows from.
type facts struct {
	running   uint64
	newest    uint64
	rejection *store.Rejection
	// refused is the generation that can't be brought into force here, and cause is why; 0 for none.
	refused uint64
	cause   string
	// alarm is on while the store is not what it was.
	alarm string
}

// state draws the conclusions.
func (f *facts) state() State {
	s := State{Running: f.running, Newest: f.newest, Rejection: f.rejection}
	refusedHere := f.refused != 0 // until another is in force
	switch {
	case refusedHere:
		s.Problem = fmt.Sprintf("generation %d can't be brought into force: %s", f.refused, f.cause)
	case f.newest == f.running:
	case f.alarm != "":
		s.Problem = f.alarm
	case f.newest > f.running:
		s.Problem = fmt.Sprintf("generation %d is not loaded yet", f.newest)
	}
	switch {
	case f.running > 0 && (refusedHere || f.rejection != nil):
		s.Kind = Stale
	case f.running > 0:
		s.Kind = Current
	case refusedHere, f.rejection != nil && f.newest == 0:
		s.Kind = Invalid
	}
	return s
}
