package api

import (
	"hash/maphash"
	"sync/atomic"
	"time"
)

const (
	// slots is how many users are told apart; those that share a slot share what is remembered.
	slots = 1024

	// slowTime is how long a decision takes that is slow.
	slowTime = time.Millisecond
	// Shorter statements than minSlowText are decided at once whatever is remembered. They can't cost much, and a
	// decision also seems slow when the system interrupted it: that must not send the ordinary ones to wait.
	minSlowText = 128

	// slowMemory is how long a slow decision is remembered.
	slowMemory = time.Second

	// A mark is the time until which it counts, in milliseconds, above these bits of the least length that it counts for.
	lengthBits = 16
)

// slowUsers remembers whose statements were slow a moment ago, and from which length on further ones may be. It has no
// locks, and looking takes one load.
type slowUsers struct {
	began time.Time
	seed  maphash.Seed
	marks *[slots]atomic.Uint64
}

func newSlowUsers() slowUsers {
	return slowUsers{began: time.Now(), seed: maphash.MakeSeed(), marks: new([slots]atomic.Uint64)}
}

// slot is where a user is remembered.
func (s *slowUsers) slot(username string) int {
	return int(maphash.String(s.seed, username[:min(len(username), 128)]) % slots)
}

// gates tells whether a statement of n bytes may be slow too.
func (s *slowUsers) gates(slot, n int) bool {
	mark := s.marks[slot].Load()
	return mark != 0 && uint64(n) >= mark&(1<<lengthBits-1) && s.now() < mark>>lengthBits
}

// saw remembers how long a statement of n bytes took, if it was slow. A shorter one that is remembered still counts.
func (s *slowUsers) saw(slot, n int, took time.Duration) {
	least := uint64(max(n/4, minSlowText))
	if took < slowTime || n < minSlowText || least > largeText {
		return
	}
	now := s.now()
	old := s.marks[slot].Load()
	if now < old>>lengthBits {
		least = min(least, old&(1<<lengthBits-1))
	}
	// If another was marked meanwhile, the next slow one comes soon.
	s.marks[slot].CompareAndSwap(old, (now+uint64(slowMemory.Milliseconds()))<<lengthBits|least)
}

func (s *slowUsers) now() uint64 { return uint64(time.Since(s.began).Milliseconds()) }
