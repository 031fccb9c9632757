package rules

import "slices"

// place is where a rule stands: its flagIN and, below that, its index in Set.entries. Places of one chain follow each
// other in the order of evaluation.
type place uint64

// nowhere is behind all places.
const nowhere place = 1<<64 - 1

func placeOf(flag int32, index int) place { return place(uint32(flag))<<32 | place(uint32(index)) }

func (p place) index() int { return int(uint32(p)) }

// source is a list of places in ascending order, and how far it was read.
type source struct {
	list []place
	at   int
}

// next gives the first place from target on.
func (s *source) next(target place) place {
	const near = 8
	list, i := s.list, s.at
	if i > 0 && list[i-1] >= target { // the walk went back
		i, _ = slices.BinarySearch(list[:i], target)
	}
	for end := min(i+near, len(list)); i < end && list[i] < target; {
		i++
	}
	if i < len(list) && list[i] < target {
		n, _ := slices.BinarySearch(list[i:], target)
		i += n
	}
	s.at = i
	if i == len(list) {
		return nowhere
	}
	return list[i]
}

// sources are read together.
type sources []source

func (s sources) next(target place) place {
	first := nowhere
	for i := range s {
		first = min(first, s[i].next(target))
	}
	return first
}

func (s sources) add(list []place) sources {
	if len(list) == 0 {
		return s
	}
	return append(s, source{list: list})
}

func (s sources) addAll(p *places) sources {
	s = s.add(p.joint)
	for _, list := range p.long {
		s = append(s, source{list: list})
	}
	return s
}

// places are many lists in few.
type places struct {
	joint []place   // those that are short, in one
	long  [][]place // the others, shared
}

func (p *places) none() bool { return len(p.joint) == 0 && len(p.long) == 0 }

// Lists up to maxJoined long are joined into one, up to maxJoint.
const (
	maxJoined = 64
	maxJoint  = 256
)

// join makes fewer lists of many, so that a walk has fewer to read.
func join(lists [][]place) (p places) {
	short := 0
	for _, list := range lists {
		if len(list) > maxJoined || len(p.joint)+len(list) > maxJoint {
			p.long = append(p.long, list)
			continue
		}
		short++
		if short == 1 {
			p.joint = slices.Clip(list) // not copied if it stays alone
			continue
		}
		p.joint = append(p.joint, list...)
	}
	if short > 1 {
		slices.Sort(p.joint)
	}
	return p
}

// sorted sorts a list in place. Most have one place.
func sorted(list []place) []place {
	if len(list) > 1 {
		slices.Sort(list)
	}
	return list
}
