package rules

import "reflect"

// AutomataMemory gives the bytes of the automata of match_digest and match_pattern.
func (s *Set) AutomataMemory() (digests, patterns int) {
	return s.digests.Memory(), s.patterns.Memory()
}

// TablesMemory gives the bytes of the rules, without their expressions and texts, and of the tables that find them.
func (s *Set) TablesMemory() int {
	x := s.index
	n := len(s.entries)*(size[entry]()+size[brief]()) + x.profiles.memory()
	n += (len(x.byDigest.slots) + len(x.far.slots)) * size[slot]()
	n += (len(x.byDigest.hints) + len(x.far.hints)) * size[uint64]()
	n += (len(x.byMatch)+len(x.byPattern))*size[anchor]() + cap(x.near)*size[target]() + len(x.isFar)
	for _, lists := range [...][][]place{x.plain, x.digestReach, x.textReach, x.lists} {
		n += listsMemory(lists)
	}
	return n
}

// mapSlot is about what an entry of a map takes besides its key and value, its free neighbour included.
const mapSlot = 8

func (x *profiles) memory() int {
	n := len(x.numbers)*(size[profile]()+mapSlot) + len(x.sums)*profileSumSize
	n += (len(x.users) + len(x.schemas)) * (size[string]() + mapSlot)
	for _, a := range [...]*addressIndex{x.clients, x.proxies} {
		n += len(a.list) * (size[AddressPattern]() + 2*(size[string]()+mapSlot))
		n += len(a.blocks) * 2 * size[[4]int]()
	}
	return n
}

// Memory gives the bytes of a resolved session, at most: a list that it shares with the Set may count.
func (r *Session) Memory() int {
	n := size[Session]() + 4*(cap(r.clients.numbers)+cap(r.proxies.numbers)+cap(r.far))
	for _, p := range [...]*places{&r.plain, &r.digestReach, &r.textReach} {
		n += cap(p.joint)*size[place]() + cap(p.long)*size[[]place]()
	}
	return n
}

func listsMemory(lists [][]place) int {
	n := len(lists) * size[[]place]()
	for _, list := range lists {
		n += cap(list) * size[place]()
	}
	return n
}

func size[T any]() int { return int(reflect.TypeFor[T]().Size()) }
