package api

import (
	"runtime"
	"time"
)

const (
	// LargeText is the length above which a statement counts as large.
	LargeText = largeText
	// HugeText is the length above which a statement is decided apart from the large ones.
	HugeText = hugeText
)

// HoldLarge takes all places for large statements until release is called.
func (s *Decision) HoldLarge() (release func()) { return s.gate.large.hold() }

// HoldHuge takes all places for huge statements until release is called.
func (s *Decision) HoldHuge() (release func()) { return s.gate.huge.hold() }

func (l *lane) hold() (release func()) {
	for range cap(l.places) {
		l.places <- struct{}{}
	}
	return func() {
		for range cap(l.places) {
			<-l.places
		}
	}
}

// SawSlow has the server remember a slow statement of a user.
func (s *Decision) SawSlow(username string, length int) {
	s.gate.slow.saw(s.gate.slow.slot(username), length, time.Minute)
}

// FillLarge has a user's large statements take all the bytes they may.
func (s *Decision) FillLarge(username string) error {
	return way{lane: s.gate.large, bytes: largeBytes / 2, user: s.gate.slow.slot(username)}.reserve()
}

// HoldLinting takes the place of those who lint.
func (s *Config) HoldLinting() (release func()) {
	s.linting <- struct{}{}
	return func() { <-s.linting }
}

// HoldValidating takes the place of those who validate.
func (s *Config) HoldValidating() (release func()) {
	s.validating <- struct{}{}
	return func() { <-s.validating }
}

// AwaitHugeBytes returns when that many bytes of huge statements are counted.
func (s *Decision) AwaitHugeBytes(n int64) {
	for {
		var sum int64
		for i := range s.gate.huge.users {
			sum += s.gate.huge.users[i].Load()
		}
		if sum == n {
			return
		}
		runtime.Gosched()
	}
}
