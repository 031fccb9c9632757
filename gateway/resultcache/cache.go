package resultcache

import (
	"container/list"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// shards have a lock each.
	shards = 16

	// overhead is what an entry takes besides its response, in bytes.
	overhead = 256

	// largest is the most bytes of one response.
	largest = 4 << 20
)

// Cache keeps responses within a limit of memory. The one that was used longest ago goes first.
type Cache struct {
	limit  atomic.Int64
	bytes  atomic.Int64
	shards [shards]shard

	hits, misses, stored, evicted atomic.Uint64
}

type shard struct {
	mu    sync.Mutex
	byKey map[Key]*list.Element // of entry
	used  list.List             // the latest first
}

type entry struct {
	key      Key
	response []byte
	made     time.Time
	ttl      time.Duration
}

func (e *entry) size() int64 { return int64(len(e.response)) + overhead }

// New makes a cache that keeps nothing until Resize gives it room.
func New() *Cache {
	c := new(Cache)
	for i := range c.shards {
		c.shards[i].byKey = map[Key]*list.Element{}
	}
	return c
}

// Resize sets the limit in bytes, 0 for off, and drops what is over it.
func (c *Cache) Resize(limit int64) {
	if c.limit.Swap(limit) <= limit {
		return
	}
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		for s.used.Len() > 0 && c.bytes.Load() > limit {
			c.drop(s, s.used.Back())
		}
		s.mu.Unlock()
	}
}

// Largest is the most bytes of a response that is kept now, 0 while the cache is off: a shard's fair share, and 4 MiB
// at most.
func (c *Cache) Largest() int { return int(min(c.limit.Load()/shards, largest)) }

// Get gives the response of a key that is not older than its own time and ttl. It must not be changed.
func (c *Cache) Get(k Key, ttl time.Duration, now time.Time) ([]byte, bool) {
	s := &c.shards[k.a%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.byKey[k]
	if at == nil {
		c.misses.Add(1)
		return nil, false
	}
	e := at.Value.(*entry)
	if age := now.Sub(e.made); age >= e.ttl || age >= ttl {
		if age >= e.ttl {
			c.remove(s, at)
		}
		c.misses.Add(1)
		return nil, false
	}
	s.used.MoveToFront(at)
	c.hits.Add(1)
	return e.response, true
}

// Put keeps a response for the time ttl. The cache owns it from now on. One that is too large is not kept.
func (c *Cache) Put(k Key, response []byte, ttl time.Duration, now time.Time) {
	limit := c.limit.Load()
	e := &entry{key: k, response: response, made: now, ttl: ttl}
	if len(response) > c.Largest() || e.size() > limit/shards {
		return
	}
	s := &c.shards[k.a%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.byKey[k]; at != nil {
		c.remove(s, at)
	}
	total := c.bytes.Add(e.size())
	for total > limit && s.used.Len() > 0 {
		c.drop(s, s.used.Back())
		total = c.bytes.Load()
	}
	if total > limit { // Other shards have all the room, and use it.
		c.bytes.Add(-e.size())
		return
	}
	s.byKey[k] = s.used.PushFront(e)
	c.stored.Add(1)
}

// drop makes room. The shard is locked.
func (c *Cache) drop(s *shard, at *list.Element) {
	c.remove(s, at)
	c.evicted.Add(1)
}

func (c *Cache) remove(s *shard, at *list.Element) {
	e := at.Value.(*entry)
	s.used.Remove(at)
	delete(s.byKey, e.key)
	c.bytes.Add(-e.size())
}

// Stats are counts since the start, but for Bytes and Entries.
type Stats struct {
	Hits, Misses, Stored uint64
	Evicted              uint64 // to make room; what is too old goes uncounted
	Bytes                int64  // held, with what entries take themselves
	Entries              int    // with those that are too old and were not asked for
}

// Stats gives the state of now.
func (c *Cache) Stats() Stats {
	st := Stats{
		Hits: c.hits.Load(), Misses: c.misses.Load(), Stored: c.stored.Load(), Evicted: c.evicted.Load(), Bytes: c.bytes.Load(),
	}
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		st.Entries += s.used.Len()
		s.mu.Unlock()
	}
	return st
}
