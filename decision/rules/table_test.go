package rules

import (
	"math/rand/v2"
	"testing"
)

func TestTable(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 50, 5000} {
		r := rand.New(rand.NewPCG(uint64(n), 1))
		table, want := newTable(n), map[uint64]uint64{}
		for i := range n {
			key := r.Uint64()
			if i%2 == 0 {
				key = uint64(i)
			}
			if want[key] == 0 {
				want[key] = r.Uint64() | 1
				table.put(key, want[key])
			}
		}
		for key, value := range want {
			if got := table.get(key); got != value {
				t.Fatalf("%d of %d keys: %d, want %d", key, n, got, value)
			}
		}
		for range 1000 {
			if key := r.Uint64(); table.get(key) != want[key] {
				t.Fatalf("%d is among %d keys", key, n)
			}
		}
	}
}
