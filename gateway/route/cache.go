package route

import (
	"math/bits"
	"sync"
	"sync/atomic"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// key finds an answer: byText tells whether sum is of the whole text or of the digest text.
type key struct {
	class   uint64
	sum     Hash
	command decisionv1.Command
	byText  bool
}

const (
	setBits = 15
	sets    = 1 << setBits
	ways    = 4 // 131,072 answers in all
)

// cache keeps answers, bounded. Answers of a class live on after its generation is retired, as the last good
// ones, until newer answers push them out.
//
// Looking up takes no lock: whoever puts counts version up before and after, and what was read while it changed counts
// for nothing.
type cache struct {
	version atomic.Uint64 // odd during a put
	keys    [sets][ways]stored
	answers [sets][ways]atomic.Pointer[decisionv1.RouteStatementResponse]

	mu   sync.Mutex // of those who put
	puts uint64
	ages [sets][ways]uint64 // numbers of puts
}

// stored is a key in two words. Where b is 0 there is none.
type stored struct{ a, b atomic.Uint64 }

// words gives the key as it is stored. Keys of one sum stay apart in a; those of two sums are as unlikely to meet as
// the sums themselves.
func (k *key) words() (a, b uint64) {
	kind := k.class<<8 | uint64(k.command)<<1
	if k.byText {
		kind |= 1
	}
	return k.sum.a ^ kind, k.sum.b
}

const spread = 0x9E3779B97F4A7C15

// places gives the two sets that a key may be in.
func places(a, b uint64) (first, second uint64) {
	high, low := bits.Mul64(a^spread, b) // b is odd, and both are random
	h := high ^ low
	return h >> (64 - setBits), h >> (64 - 2*setBits) % sets
}

// maxReads is how often a lookup that met a put is tried again before it waits for the lock.
const maxReads = 4

func (c *cache) get(k *key) *decisionv1.RouteStatementResponse {
	a, b := k.words()
	for range maxReads {
		version := c.version.Load()
		if version%2 != 0 {
			continue
		}
		answer := c.find(a, b)
		if c.version.Load() == version {
			return answer
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.find(a, b)
}

func (c *cache) find(a, b uint64) *decisionv1.RouteStatementResponse {
	first, second := places(a, b)
	if i := c.way(first, a, b); i >= 0 {
		return c.answers[first][i].Load()
	}
	if c.keys[first][ways-1].b.Load() == 0 { // Only a full set sends keys on, and it stays full.
		return nil
	}
	if i := c.way(second, a, b); i >= 0 {
		return c.answers[second][i].Load()
	}
	return nil
}

// way gives a key's place in a set, -1 when it is not there.
func (c *cache) way(set, a, b uint64) int {
	keys := &c.keys[set]
	for i := range keys {
		if keys[i].a.Load() == a && keys[i].b.Load() == b {
			return i
		}
	}
	return -1
}

// put keeps an answer: in the place of the same key's, else in a free one, else in that of the oldest of the two sets.
func (c *cache) put(k *key, answer *decisionv1.RouteStatementResponse) {
	a, b := k.words()
	c.mu.Lock()
	defer c.mu.Unlock()
	set, way := c.room(a, b)
	c.puts++
	c.ages[set][way] = c.puts
	c.version.Add(1)
	c.keys[set][way].a.Store(a)
	c.keys[set][way].b.Store(b)
	c.answers[set][way].Store(answer)
	c.version.Add(1)
}

func (c *cache) room(a, b uint64) (set uint64, way int) {
	first, second := places(a, b)
	for _, set := range [...]uint64{first, second} {
		if i := c.way(set, a, b); i >= 0 {
			return set, i
		}
	}
	// What is free has the age 0.
	set, way = first, 0
	for _, s := range [...]uint64{first, second} {
		for i := range ways {
			if c.ages[s][i] < c.ages[set][way] {
				set, way = s, i
			}
		}
	}
	return set, way
}

// len counts the answers.
func (c *cache) len() int {
	n := 0
	for set := range c.keys {
		for i := range c.keys[set] {
			if c.keys[set][i].b.Load() != 0 {
				n++
			}
		}
	}
	return n
}
