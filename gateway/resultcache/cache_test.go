package resultcache_test

import (
	"sync"
	"testing"
	"time"

	"github.com/pointsman/pointsman/gateway/resultcache"
)

func keyOf(parts ...string) resultcache.Key {
	m := resultcache.NewKeyMaker()
	for _, p := range parts {
		m.String(p)
	}
	return m.Key()
}

func TestKeys(t *testing.T) {
	seen := map[resultcache.Key][]string{}
	for _, parts := range [][]string{{}, {""}, {"a"}, {"a", ""}, {"", "a"}, {"ab", "c"}, {"a", "bc"}, {"abc"}} {
		k := keyOf(parts...)
		if other, ok := seen[k]; ok {
			t.Errorf("%q and %q have one key", other, parts)
		}
		seen[k] = parts
		if keyOf(parts...) != k {
			t.Errorf("%q has two keys", parts)
		}
	}
	b := resultcache.NewKeyMaker()
	b.Bytes([]byte("abc"))
	if b.Key() != keyOf("abc") {
		t.Error("bytes and text differ")
	}
}

func TestTime(t *testing.T) {
	c := resultcache.New()
	c.Resize(1 << 20)
	start := time.Now()
	k := keyOf("k")
	c.Put(k, []byte("rows"), time.Second, start)
	for _, tt := range []struct {
		after, ttl time.Duration
		hit        bool
	}{
		{0, time.Second, true},
		{999 * time.Millisecond, time.Second, true},
		{999 * time.Millisecond, 2 * time.Second, true},
		{500 * time.Millisecond, 500 * time.Millisecond, false}, // too old for this statement's rule
		{600 * time.Millisecond, time.Second, true},
		{time.Second, 2 * time.Second, false}, // gone now
		{0, time.Second, false},
	} {
		got, hit := c.Get(k, tt.ttl, start.Add(tt.after))
		if hit != tt.hit || hit && string(got) != "rows" {
			t.Errorf("after %s: %q, %v", tt.after, got, hit)
		}
	}
	want := resultcache.Stats{Hits: 4, Misses: 3, Stored: 1}
	if got := c.Stats(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestRoom(t *testing.T) {
	const limit = 1 << 20
	c := resultcache.New()
	now := time.Now()
	k := keyOf("k")
	if c.Put(k, []byte("rows"), time.Minute, now); c.Stats().Entries != 0 || c.Largest() != 0 {
		t.Error("kept while the cache is off")
	}
	c.Resize(limit)
	if c.Put(k, make([]byte, c.Largest()+1), time.Minute, now); c.Stats().Entries != 0 {
		t.Error("too large a response is kept")
	}
	c.Put(k, []byte("old"), time.Minute, now)
	c.Put(k, []byte("rows"), time.Minute, now)
	for i := range 10_000 {
		c.Put(keyOf("x", string(rune(i))), make([]byte, 1000), time.Minute, now)
		if got, hit := c.Get(k, time.Minute, now); !hit || string(got) != "rows" {
			t.Fatalf("what is used is pushed out by %d: %q", i, got)
		}
	}
	st := c.Stats()
	if st.Bytes > limit || st.Bytes < limit/2 || st.Evicted == 0 || st.Stored != 10_002 || int(st.Evicted)+st.Entries != 10_001 {
		t.Errorf("%+v", st)
	}
	c.Resize(limit / 4)
	if st = c.Stats(); st.Bytes > limit/4 || st.Bytes < limit/8 {
		t.Errorf("smaller: %+v", st)
	}
	if c.Resize(0); c.Stats().Bytes != 0 || c.Stats().Entries != 0 {
		t.Errorf("off: %+v", c.Stats())
	}
}

func TestManyAtOnce(t *testing.T) {
	const limit = 100 << 10
	c := resultcache.New()
	c.Resize(limit)
	now := time.Now()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 2000 {
				k := keyOf(string(rune(i % 500)))
				if got, hit := c.Get(k, time.Minute, now); hit && len(got) != i%500 {
					t.Errorf("%d bytes of %d", len(got), i%500)
				}
				c.Put(k, make([]byte, i%500), time.Minute, now)
			}
		})
	}
	all.Wait()
	if st := c.Stats(); st.Bytes > limit || st.Bytes <= 0 || st.Hits == 0 {
		t.Errorf("%+v", st)
	}
	if c.Resize(0); c.Stats().Bytes != 0 {
		t.Errorf("off: %+v", c.Stats())
	}
}
