package rules

import "slices"

// index says where the rules stand that a session and a statement can reach. It has each rule once, by the first that it
// has of: a digest, a positive match_digest, a positive match_pattern without match_digest (its anchor); or by its profile.
type index struct {
	profiles *profiles
	plain    [][]place // by profile: rules without an anchor
	// Rules with a match_digest or match_pattern as anchor, by profile: a text is searched only when a walk comes to one.
	digestReach [][]place
	textReach   [][]place

	hasDigests bool
	byDigest   table     // the anchors of digests
	byMatch    []anchor  // the anchors of Set.digests, by id
	byPattern  []anchor  // the anchors of Set.patterns, by id
	near       []target  // the rules of anchors with few
	far        table     // for anchors with many rules, by farKey: 1 more than the place in lists
	lists      [][]place // of far
	isFar      []bool    // by profile
}

// anchor says where the rules are found that have a digest or an expression. Below is the place in index.near of the first
// of them, or the number that farKey takes; above is their count in index.near, or farAway.
type anchor uint64

const farAway = 1<<32 - 1

func newAnchor(at, count int) anchor { return anchor(count)<<32 | anchor(at) }

func (a anchor) parts() (at, count uint32) { return uint32(a), uint32(a >> 32) }

// maxNear is how many rules of an anchor are tested one by one.
const maxNear = 8

// target is a rule with its profile.
type target struct {
	place place
	profile
}

func (t *target) fits(s *Session) bool {
	return (t.user == 0 || t.user == s.user) && (t.schema == 0 || t.schema == s.schema) && (t.port == 0 || t.port == s.port) &&
		s.clients.has(t.client) && s.proxies.has(t.proxy)
}

// anchored collects the rules of an anchor while the index is built.
type anchored struct {
	targets  []target
	profiles [][]uint32 // in step with targets
}

type builder struct {
	*index
	byDigest  map[uint64]*anchored
	order     []uint64 // the keys of byDigest
	byMatch   []anchored
	byPattern []anchored
	farLists  map[uint64][]place
	anchors   uint32
}

// newIndex indexes the rules of a Set that has matches distinct match_digest and patterns distinct match_pattern.
func newIndex(entries []entry, matches, patterns int) *index {
	b := &builder{
		index:     &index{profiles: newProfiles()},
		byDigest:  make(map[uint64]*anchored),
		byMatch:   make([]anchored, matches),
		byPattern: make([]anchored, patterns),
		farLists:  make(map[uint64][]place),
	}
	for i := range entries {
		b.add(&entries[i], i)
	}
	b.finish()
	return b.index
}

func (b *builder) add(e *entry, i int) {
	p := b.profiles.of(&e.Rule)
	numbers := b.profiles.add(&e.Rule, p)
	for len(b.plain) < len(b.profiles.numbers) {
		b.plain, b.digestReach, b.textReach = append(b.plain, nil), append(b.digestReach, nil), append(b.textReach, nil)
	}
	t := target{placeOf(e.FlagIn, i), p}
	list := b.plain
	switch {
	case e.HasDigest:
		a, ok := b.byDigest[e.Digest]
		if !ok {
			a = &anchored{}
			b.byDigest[e.Digest] = a
			b.order = append(b.order, e.Digest)
		}
		a.add(t, numbers)
		return
	case e.MatchDigest != nil:
		if e.digestID >= 0 && !e.Negate {
			b.byMatch[e.digestID].add(t, numbers)
			list = b.digestReach
		}
	case e.patternID >= 0 && !e.Negate:
		b.byPattern[e.patternID].add(t, numbers)
		list = b.textReach
	}
	for _, n := range numbers {
		list[n] = append(list[n], t.place)
	}
}

func (a *anchored) add(t target, numbers []uint32) {
	a.targets = append(a.targets, t)
	a.profiles = append(a.profiles, numbers)
}

func (b *builder) finish() {
	for _, lists := range [...][][]place{b.plain, b.digestReach, b.textReach} {
		for _, list := range lists {
			slices.Sort(list)
		}
	}
	b.isFar = make([]bool, len(b.profiles.numbers))
	b.index.byDigest = newTable(len(b.order))
	b.hasDigests = len(b.order) > 0
	for _, digest := range b.order {
		b.index.byDigest.put(digest, uint64(b.anchor(b.byDigest[digest])))
	}
	for i := range b.byMatch {
		b.index.byMatch = append(b.index.byMatch, b.anchor(&b.byMatch[i]))
	}
	for i := range b.byPattern {
		b.index.byPattern = append(b.index.byPattern, b.anchor(&b.byPattern[i]))
	}
	b.far = newTable(len(b.farLists))
	for key, list := range b.farLists {
		slices.Sort(list)
		b.lists = append(b.lists, list)
		b.far.put(key, uint64(len(b.lists)))
	}
}

// anchor makes the anchor of some rules.
func (b *builder) anchor(from *anchored) anchor {
	if len(from.targets) <= maxNear {
		b.near = append(b.near, from.targets...)
		return newAnchor(len(b.near)-len(from.targets), len(from.targets))
	}
	b.anchors++
	for i, t := range from.targets {
		for _, n := range from.profiles[i] {
			b.isFar[n] = true
			key := farKey(b.anchors, n)
			b.farLists[key] = append(b.farLists[key], t.place)
		}
	}
	return newAnchor(int(b.anchors), farAway)
}

func farKey(anchor, profile uint32) uint64 { return uint64(anchor)<<32 | uint64(profile) }

// collect adds the rules of an anchor that a session fits: few to near, in no order, lists of many to far.
func (x *index) collect(a anchor, s *Session, near []place, far sources) ([]place, sources) {
	at, count := a.parts()
	if count == farAway {
		for _, n := range s.far {
			if list := x.far.get(farKey(at, n)); list != 0 {
				far = far.add(x.lists[list-1])
			}
		}
		return near, far
	}
	targets := x.near[at : at+count]
	for i := range targets {
		if t := &targets[i]; t.fits(s) {
			near = append(near, t.place)
		}
	}
	return near, far
}
