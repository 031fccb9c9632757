package route

import (
	"hash/maphash"
	"sync"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// hash128 tells texts apart. It is seeded per process, so that nobody can prepare texts that collide.
type hash128 struct{ a, b uint64 }

var seedA, seedB = maphash.MakeSeed(), maphash.MakeSeed()

func hashOf(b []byte) hash128 {
	return hash128{maphash.Bytes(seedA, b), maphash.Bytes(seedB, b)}
}

// key finds an answer: byText tells whether sum is of the whole text or of the digest text.
type key struct {
	class   uint64
	sum     hash128
	command decisionv1.Command
	byText  bool
}

const (
	shards      = 64
	maxPerShard = 2048 // 131,072 answers in all
)

// cache keeps answers, bounded. Answers of a class live on after its generation is retired, as the last good
// ones, until newer answers push them out.
type cache struct {
	shards [shards]shard
}

type shard struct {
	mu      sync.Mutex
	answers map[key]*decisionv1.RouteStatementResponse
}

func (c *cache) shard(k key) *shard { return &c.shards[k.sum.a%shards] }

func (c *cache) get(k key) *decisionv1.RouteStatementResponse {
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answers[k]
}

func (c *cache) put(k key, a *decisionv1.RouteStatementResponse) {
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answers == nil {
		s.answers = map[key]*decisionv1.RouteStatementResponse{}
	}
	if len(s.answers) >= maxPerShard {
		for old := range s.answers { // any one
			delete(s.answers, old)
			break
		}
	}
	s.answers[k] = a
}

func (c *cache) len() int {
	n := 0
	for i := range c.shards {
		c.shards[i].mu.Lock()
		n += len(c.shards[i].answers)
		c.shards[i].mu.Unlock()
	}
	return n
}
