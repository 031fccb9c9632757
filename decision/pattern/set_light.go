package pattern

import (
	"slices"
	"sync"
)

// maxRoom is how many places a repetition with a bound may have in an expression that is light.
const maxRoom = 32

// light is what a Set knows of its light expressions: those of which only a few threads can be alive at once, however
// many of them a Set has. When a search for all gives up, another one finds these alone.
type light struct {
	is   []bool // by id
	once sync.Once
	set  *Set // of them, made when it is first needed
}

// lightSet gives the Set of the light expressions, or nil if there are none or no others.
func (s *Set) lightSet() *Set {
	l := s.light
	if l == nil {
		return nil
	}
	l.once.Do(func() {
		set := newSet(s.list, l.is, s.limit)
		s.writing.Lock()
		l.set = set
		s.writing.Unlock()
	})
	return l.set
}

// isLight tells whether an expression with these branches is light: it has no endless repetition, in which one thread for
// each such expression could live on. Those over bytes like spaces alone don't count, nor does the first one of a match
// that begins where the text does: those that share what comes before share it, too.
func isLight(root *node, all []branch) bool {
	if roomy(root) {
		return false
	}
	for i := range all {
		free := all[i].anchored
		for _, n := range all[i].elements {
			switch {
			case !lasting(n):
			case free && n.kind == kindRepeat:
				free = false
			default:
				return false
			}
		}
	}
	return true
}

// roomy tells whether n has a repetition with a bound in which many threads can be alive.
func roomy(n *node) bool {
	if n.kind == kindRepeat && n.max != unlimited && n.max > 1 && sizeOf(n) > maxRoom && !narrow(n) {
		return true
	}
	return slices.ContainsFunc(n.subs, roomy)
}

// lasting tells whether n has an endless repetition that is not narrow.
func lasting(n *node) bool {
	if n.kind == kindRepeat && n.max == unlimited && !narrow(n) {
		return true
	}
	return slices.ContainsFunc(n.subs, lasting)
}

// narrow tells whether n takes nothing but a few bytes, none of them of a name.
func narrow(n *node) bool {
	if n.kind == kindSet {
		for c := range 256 {
			if isWord(byte(c)) && n.set.has(byte(c)) {
				return false
			}
		}
		return n.set.size() <= 8
	}
	for _, sub := range n.subs {
		if !narrow(sub) {
			return false
		}
	}
	return true
}
