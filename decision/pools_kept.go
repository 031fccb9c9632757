package decision

import (
	"sync"
	"sync/atomic"
)

// maxKeptMembers is how many places the pools that are kept have in their tiers together. A place takes about 50 bytes.
const maxKeptMembers = 1_000_000

// keptPools keeps pools from when they are first asked for: few routes of a large guideline are ever taken at one place. When
// they come to more than maxKeptMembers, earlier ones are forgotten; they are filled again when they are asked for again.
type keptPools struct {
	slots []atomic.Pointer[Pool] // nil: forgotten, or never asked for

	mu   sync.Mutex // held to fill one, so that many who ask at once fill it once; guards what follows
	size int        // of those in slots
	hand int        // the slot that is looked at next when there are too many
}

// get gives the pool of a slot.
func (k *keptPools) get(slot int, fill func() *Pool) *Pool {
	if pool := k.slots[slot].Load(); pool != nil {
		return pool
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if pool := k.slots[slot].Load(); pool != nil {
		return pool
	}
	pool := fill()
	k.forget(maxKeptMembers - pool.size)
	k.slots[slot].Store(pool)
	k.size += pool.size
	return pool
}

// forget makes room until no more than so many members are left, or none.
func (k *keptPools) forget(most int) {
	for k.size > max(most, 0) {
		if pool := k.slots[k.hand].Swap(nil); pool != nil {
			k.size -= pool.size
		}
		k.hand = (k.hand + 1) % len(k.slots)
	}
}
