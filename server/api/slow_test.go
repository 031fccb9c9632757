package api

import (
	"testing"
	"time"
)

func TestSlowUsers(t *testing.T) {
	s := newSlowUsers()
	a := s.slot("a")
	if s.gates(a, largeText) {
		t.Error("a user of whom nothing was seen counts as slow")
	}
	s.saw(a, 4000, slowTime-1)
	s.saw(a, minSlowText-1, time.Minute)
	s.saw(a, largeText*4+4, time.Minute) // what is a quarter of this is large in any case
	if s.gates(a, largeText) {
		t.Error("a user counts as slow after a quick, a short and a very long statement")
	}
	s.saw(a, 4000, slowTime)
	for _, tt := range []struct {
		n    int
		want bool
	}{{999, false}, {1000, true}, {largeText, true}} {
		if got := s.gates(a, tt.n); got != tt.want {
			t.Errorf("after 4,000 slow bytes, %d bytes: %v, want %v", tt.n, got, tt.want)
		}
	}
	if s.gates((a+1)%slots, largeText) {
		t.Error("another user counts as slow")
	}
	s.saw(a, 800, time.Second)
	s.saw(a, 8000, time.Second)
	if !s.gates(a, 200) || s.gates(a, 199) {
		t.Error("the shortest slow statement does not tell the least length")
	}
	s.saw(a, minSlowText, time.Second)
	if s.gates(a, minSlowText-1) || !s.gates(a, minSlowText) {
		t.Error("the least length goes below its bound")
	}
	s.began = s.began.Add(-slowMemory - time.Millisecond)
	if s.gates(a, largeText) {
		t.Error("a user counts as slow for ever")
	}
	s.saw(a, 4000, time.Second)
	if !s.gates(a, 1000) || s.gates(a, 999) {
		t.Error("what is forgotten tells the least length")
	}
}

func TestSlowUsersAllocateNothing(t *testing.T) {
	s := newSlowUsers()
	if n := testing.AllocsPerRun(100, func() {
		slot := s.slot("app")
		s.saw(slot, 4000, time.Second)
		s.gates(slot, 4000)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
