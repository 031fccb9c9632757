package fastroute

import (
	"strings"
	"testing"
)

// TestNames has names of all lengths up to 40 that differ in one byte or in their length, half of which are known.
func TestNames(t *testing.T) {
	var all []string
	for length := range 41 {
		base := strings.Repeat("x", length)
		all = append(all, base)
		for i := range length {
			for _, c := range []string{"\x00", "y", "\xff"} {
				all = append(all, base[:i]+c+base[i+1:])
			}
		}
	}
	n := newNumbering()
	ids := map[uint32]string{}
	for i := 0; i < len(all); i += 2 {
		id := n.add(all[i])
		if other, taken := ids[id]; taken || id == 0 {
			t.Fatalf("%q and %q have the id %d", all[i], other, id)
		}
		ids[id] = all[i]
		if again := n.add(all[i]); again != id {
			t.Fatalf("%q has the ids %d and %d", all[i], id, again)
		}
	}
	known := n.names()
	for i, name := range all {
		id := known.id(name)
		if want := i%2 == 0; (id != 0) != want || want && ids[id] != name {
			t.Errorf("%q has the id %d of %q, known: %v", name, id, ids[id], want)
		}
	}
	if len(ids) != (len(all)+1)/2 {
		t.Errorf("%d ids of %d names", len(ids), len(all))
	}
}
