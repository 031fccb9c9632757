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

// neighbours gives keys that belong in the same two sets.
func neighbours(t *testing.T, n int) []key {
	t.Helper()
	keys := make([]key, n)
	for i := range keys {
		k := key{class: 3, command: decisionv1.Command_COMMAND_QUERY}
		kind, _ := k.words()
		k.sum = Hash{a: uint64(3<<49|7<<34|i) ^ spread ^ kind, b: 1}
		if first, second := places(k.words()); first != 3 || second != 7 {
			t.Fatalf("key %d belongs in the sets %d and %d", i, first, second)
		}
		keys[i] = k
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
		c.put(&keys[i], answer(i))
	}
	for i := range keys {
		if a := c.get(&keys[i]); a.GetDestinationHostgroup() != int32(i) {
			t.Errorf("%+v: %v, want %d", keys[i], a, i)
		}
	}
	c.put(&base, answer(77))
	if a := c.get(&base); a.GetDestinationHostgroup() != 77 || c.len() != len(keys) {
		t.Errorf("%v after a second put, %d answers", a, c.len())
	}
}

func TestCachePushesOutTheOldest(t *testing.T) {
	c := new(cache)
	keys := neighbours(t, 2*ways+3)
	for i := range 2 * ways {
		c.put(&keys[i], answer(i))
	}
	c.put(&keys[0], answer(0)) // younger now
	for i := 2 * ways; i < len(keys); i++ {
		c.put(&keys[i], answer(i))
	}
	for i := range keys {
		a := c.get(&keys[i])
		if gone := i >= 1 && i <= 3; (a == nil) != gone || a != nil && a.GetDestinationHostgroup() != int32(i) {
			t.Errorf("key %d: answer %v; should it be gone: %v", i, a, gone)
		}
	}
	if c.len() != 2*ways {
		t.Errorf("%d answers in two sets, want %d", c.len(), 2*ways)
	}
}

// TestCacheHoldsMost fills half of the places: nearly all answers must stay.
func TestCacheHoldsMost(t *testing.T) {
	c := new(cache)
	r := rand.New(rand.NewPCG(1, 1))
	keys := make([]key, sets*ways/2)
	for i := range keys {
		keys[i] = key{class: r.Uint64N(50), sum: Hash{r.Uint64(), r.Uint64() | 1}, command: decisionv1.Command(1 + r.IntN(3))}
		c.put(&keys[i], answer(i))
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
	keys := neighbours(t, 20)
	var wg sync.WaitGroup
	for worker := range uint64(4) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(worker, 0))
			found := 0
			for range 100_000 {
				i := r.IntN(len(keys))
				switch a := c.get(&keys[i]); {
				case a == nil:
					c.put(&keys[i], answer(i))
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
	if c.len() != 2*ways {
		t.Errorf("%d answers in two sets, want %d", c.len(), 2*ways)
	}
}

func TestHashOfDigest(t *testing.T) {
	text, other := []byte("SELECT ?"), []byte("SELECT ?,?")
	h := HashOfDigest(text, 4)
	if h != HashOfDigest(text, 4) || h == HashOfDigest(other, 4) || h == HashOfDigest(text, 8) || h.b == 0 {
		t.Errorf("hash %v", h)
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
