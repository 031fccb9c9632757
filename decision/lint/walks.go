package lint

import (
	"slices"
	"sort"
)

// entry is a place from which a chain is entered.
type entry struct {
	flag   int64
	place  int
	mirror bool // by a mirrored copy, which takes no fast route
}

// walks follows all walks from flag 0, from the flags that reached rules store in sessions, and from those of mirrored
// copies. It fills reached, direct, entries and ends. It looks at each rule and each entry once.
func (l *linter) walks() {
	seen := make(map[entry]bool)
	var open []entry
	enter := func(flag int64, place int, mirror bool) {
		e := entry{flag, place, mirror}
		if !seen[e] {
			seen[e] = true
			open = append(open, e)
		}
	}
	// walked holds for each chain and kind of walk the places of its rules that were looked at.
	type kind struct {
		flag   int64
		mirror bool
	}
	walked := make(map[kind]map[int]bool)
	enter(0, start, false)
	for len(open) > 0 {
		e := open[len(open)-1]
		open = open[:len(open)-1]
		done := walked[kind{e.flag, e.mirror}]
		if done == nil {
			done = make(map[int]bool)
			walked[kind{e.flag, e.mirror}] = done
		}
		chain := l.chain[e.flag]
		ended := true
		for _, r := range chain[after(chain, e.place):] {
			if done[r.place] {
				ended = false // the rest is known
				break
			}
			done[r.place] = true
			r.reached, r.direct = true, r.direct || !e.mirror
			if p := r.row.NextQueryFlagIn; p != nil && !e.mirror {
				enter(*p, start, false)
			}
			if p := r.row.MirrorFlagOut; p != nil && !e.mirror {
				enter(*p, start, true)
			}
			if !r.row.Apply {
				for _, flag := range r.flags {
					enter(flag, r.place, e.mirror)
					if *l.settings.QueryProcessorIterations > 0 {
						enter(flag, start, e.mirror)
					}
				}
			}
			if r.always && r.leaves() {
				ended = false
				break
			}
		}
		if ended && !e.mirror {
			l.ends[e.flag] = true
		}
	}
	for e := range seen {
		l.entries[e.flag] = append(l.entries[e.flag], e.place)
	}
	for flag := range l.entries {
		slices.Sort(l.entries[flag])
	}
}

// after gives the index of the first rule of a chain behind a place.
func after(chain []*rule, place int) int {
	return sort.Search(len(chain), func(i int) bool { return chain[i].place > place })
}

// lastEntry gives the last place before a rule from which its chain is entered; it is not ok when there is none.
func (l *linter) lastEntry(r *rule) (place int, ok bool) {
	entries := l.entries[r.row.FlagIn]
	i := sort.SearchInts(entries, r.place)
	if i == 0 {
		return 0, false
	}
	return entries[i-1], true
}
