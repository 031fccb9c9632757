package fastroute

import (
	"math/rand/v2"
	"testing"
)

// TestPerfect gives every hash a place of its own, for sets of all small sizes and some large ones.
func TestPerfect(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	sizes := []int{5000, 100_000}
	for n := range 400 {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		hashes := make([]uint64, n)
		for i := range hashes {
			hashes[i] = r.Uint64()
		}
		p, ok := newPerfect(hashes)
		if !ok {
			t.Fatalf("%d hashes: failed", n)
		}
		if p.places > uint64(n+n/8+1) {
			t.Errorf("%d hashes have %d places", n, p.places)
		}
		taken := make([]bool, p.places)
		for _, h := range hashes {
			at := p.place(h)
			if taken[at] {
				t.Fatalf("%d hashes: two at place %d", n, at)
			}
			taken[at] = true
		}
		for range 100 { // of hashes that are not in the set
			if at := p.place(r.Uint64()); at >= p.places {
				t.Fatalf("place %d of %d", at, p.places)
			}
		}
	}
}

func TestPerfectFailsForEqualHashes(t *testing.T) {
	if _, ok := newPerfect([]uint64{1 << 60, 7, 1 << 60}); ok {
		t.Error("two equal hashes have places of their own")
	}
}
