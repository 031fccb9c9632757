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
// Looking up takes no lock: a key may be in two sets, each a line of memory with the keys' tags, and an entry never
// changes. A tag and an entry that don't belong together, as seen during a put, make a miss.
type cache struct {
	sets [sets]set

	mu   sync.Mutex // of those who put
	puts uint64
}

type set struct {
	entries [ways]atomic.Pointer[entry]
	tags    [ways]atomic.Uint32 // bits of the keys' hashes; never 0 where there is an entry
	_       [64 - ways*12]byte
}

type entry struct {
	key        key
	answer     *decisionv1.RouteStatementResponse
	generation uint64
	age        uint64 // the number of its put
}

// place is where a key may be.
type place struct {
	first, second uint32 // sets
	tag           uint32
}

// is compares word by word: to compare the structs takes longer.
func (k *key) is(o *key) bool {
	return k.sum.a == o.sum.a && k.sum.b == o.sum.b && k.class == o.class && k.command == o.command && k.byText == o.byText
}

func (k *key) place() place {
	h := k.class ^ uint64(k.command)<<56
	if k.byText {
		h ^= 1 << 55
	}
	high, low := bits.Mul64(h^0x9E3779B97F4A7C15, k.sum.a|1) // the sum is random already
	h = high ^ low
	return place{first: uint32(h >> (64 - setBits)), second: uint32(h>>(64-2*setBits)) % sets, tag: uint32(h) | 1}
}

func (c *cache) get(k *key) *decisionv1.RouteStatementResponse {
	p := k.place()
	if e := c.sets[p.first].find(p.tag, k); e != nil {
		return e.answer
	}
	if e := c.sets[p.second].find(p.tag, k); e != nil {
		return e.answer
	}
	return nil
}

func (s *set) find(tag uint32, k *key) *entry {
	for i := range s.tags {
		if s.tags[i].Load() == tag {
			if e := s.entries[i].Load(); e != nil && e.key.is(k) {
				return e
			}
		}
	}
	return nil
}

// put keeps an answer of a generation: in the place of the same key's, else in a free one, else in that of the oldest
// answer of the oldest generation in the two sets.
func (c *cache) put(k *key, generation uint64, a *decisionv1.RouteStatementResponse) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.puts++
	p := k.place()
	var in *set
	var way int
	var oldest *entry
find:
	for _, n := range [...]uint32{p.first, p.second} {
		s := &c.sets[n]
		for i := range s.entries {
			e := s.entries[i].Load()
			switch {
			case e != nil && e.key.is(k):
				in, way = s, i
				break find
			case in == nil || oldest != nil && (e == nil || e.before(oldest)):
				in, way, oldest = s, i, e
			}
		}
	}
	in.entries[way].Store(&entry{key: *k, answer: a, generation: generation, age: c.puts})
	in.tags[way].Store(p.tag)
}

func (e *entry) before(o *entry) bool {
	return e.generation < o.generation || e.generation == o.generation && e.age < o.age
}

// len counts the answers.
func (c *cache) len() int {
	n := 0
	for i := range c.sets {
		for j := range c.sets[i].entries {
			if c.sets[i].entries[j].Load() != nil {
				n++
			}
		}
	}
	return n
}
