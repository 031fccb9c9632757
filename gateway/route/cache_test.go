package route

import (
	"math/rand/v2"
	"sync"
	"testing"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// answer is one that can be told from others.
func answer(n int) *decisionv1.RouteStatementResponse {
	return &decisionv1.RouteStatementResponse{DestinationHostgroup: new(int32(n))}
}

// neighbours gives keys that belong in the same two sets with the same tag.
func neighbours(n int) []key {
	keys := make([]key, n)
	for i := range keys {
		keys[i] = key{class: 3, sum: Hash{a: 12345, b: uint64(i)}, command: decisionv1.Command_COMMAND_QUERY}
	}
	return keys
}

// crowd gives keys with other tags that have their first set in common.
func crowd(n int) []key {
	r := rand.New(rand.NewPCG(2, 2))
	var keys []key
	for len(keys) < n {
		k := key{class: 4, sum: Hash{r.Uint64(), 1}}
		if k.place().first == 0 {
			keys = append(keys, k)
		}
	}
	return keys
}

func TestCacheTellsKeysApart(t *testing.T) {
	c := new(cache)
	base := key{class: 1, sum: Hash{2, 3}, command: decisionv1.Command_COMMAND_QUERY}
	keys := []key{base}
	for _, change := range []func(k *key){
		func(k *key) { k.class = 2 },
		func(k *key) { k.sum.a = 9 },
		func(k *key) { k.sum.b = 9 },
		func(k *key) { k.command = decisionv1.Command_COMMAND_EXECUTE },
		func(k *key) { k.byText = true },
	} {
		k := base
		change(&k)
		keys = append(keys, k)
	}
	for i := range keys {
		if a := c.get(&keys[i]); a != nil {
			t.Errorf("%+v: an answer of another key", keys[i])
		}
		c.put(&keys[i], 1, answer(i))
	}
	for i := range keys {
		if a := c.get(&keys[i]); a.GetDestinationHostgroup() != int32(i) {
			t.Errorf("%+v: %v, want %d", keys[i], a, i)
		}
	}
	c.put(&base, 1, answer(77))
	if a := c.get(&base); a.GetDestinationHostgroup() != 77 || c.len() != len(keys) {
		t.Errorf("%v after a second put, %d answers", a, c.len())
	}
}

func TestCachePushesOutTheOldest(t *testing.T) {
	c := new(cache)
	keys := neighbours(2*ways + 3)
	first, later := keys[:2*ways], keys[2*ways:]
	if p := first[0].place(); p.first == p.second {
		t.Fatal("one set")
	}
	for i := range first {
		generation := uint64(5)
		if i == 6 {
			generation = 4
		}
		c.put(&first[i], generation, answer(i))
	}
	c.put(&first[0], 5, answer(0)) // younger now
	for i := range later {
		c.put(&later[i], 5, answer(i))
	}
	for i := range keys {
		gone := i == 6 || i == 1 || i == 2
		if (c.get(&keys[i]) == nil) != gone {
			t.Errorf("key %d is there: %v, want %v", i, gone, !gone)
		}
	}
}

// TestCacheHoldsMost fills half of the places: nearly all answers must stay.
func TestCacheHoldsMost(t *testing.T) {
	c := new(cache)
	r := rand.New(rand.NewPCG(1, 1))
	keys := make([]key, sets*ways/2)
	for i := range keys {
		keys[i] = key{class: r.Uint64N(50), sum: Hash{r.Uint64(), r.Uint64()}, command: decisionv1.Command(1 + r.IntN(3))}
		c.put(&keys[i], 1, answer(i))
	}
	lost := 0
	for i := range keys {
		switch a := c.get(&keys[i]); {
		case a == nil:
			lost++
		case a.GetDestinationHostgroup() != int32(i):
			t.Fatalf("key %d: answer %v", i, a)
		}
	}
	if lost > len(keys)/200 || c.len() != len(keys)-lost {
		t.Errorf("%d of %d answers lost, %d kept", lost, len(keys), c.len())
	}
}

// TestCacheConcurrently has answers that say whose they are pushed out all the time: what is found must be the key's.
func TestCacheConcurrently(t *testing.T) {
	c := new(cache)
	keys := append(neighbours(40), crowd(40)...)
	var wg sync.WaitGroup
	for worker := range uint64(4) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(worker, 0))
			found := 0
			for range 100_000 {
				i := r.IntN(len(keys))
				switch a := c.get(&keys[i]); {
				case a == nil:
					c.put(&keys[i], uint64(r.IntN(3)), answer(i))
				case a.GetDestinationHostgroup() != int32(i):
					t.Errorf("key %d: answer %v", i, a)
					return
				default:
					found++
				}
			}
			if found == 0 {
				t.Error("nothing was found")
			}
		})
	}
	wg.Wait()
	if n := c.len(); n < 3*ways || n > 2*ways+40 {
		t.Errorf("%d answers are kept", n)
	}
}

func TestHash(t *testing.T) {
	seen := map[Hash]string{}
	for _, text := range []string{"", "a", "b", "SELECT ?", "SELECT ? "} {
		h := HashOf([]byte(text))
		if other, ok := seen[h]; ok || h == (Hash{}) {
			t.Errorf("%q and %q have the hash %v", text, other, h)
		}
		if h != HashOf([]byte(text)) {
			t.Errorf("%q has two hashes", text)
		}
		seen[h] = text
	}
}
