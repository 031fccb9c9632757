package rules

// entry is a rule as the walk sees it.
type entry struct {
	*brief
	weights weights
	Rule
}

// brief is what the walk needs of every candidate. All are in one list, apart from the rules, to fill few lines of the
// cache.
type brief struct {
	digestID    int // of MatchDigest in Set.digests, or -1
	patternID   int // of MatchPattern in Set.patterns, or -1
	id          uint32
	flagOut     int32
	destination int32
	traits      traits
}

// traits say which parts of a rule there are to look at.
type traits uint32

const (
	hasMatchDigest traits = 1 << iota
	hasMatchPattern
	hasWeights
	hasEffects
	hasReplacement
	applies
	negates
)

func newEntry(b *brief, r Rule, digestID, patternID int) entry {
	e := entry{brief: b, weights: newWeights(r.FlagOuts), Rule: r}
	*b = brief{digestID: digestID, patternID: patternID, id: r.ID, flagOut: r.FlagOut, destination: r.Destination}
	set := func(has bool, t traits) {
		if has {
			b.traits |= t
		}
	}
	set(r.MatchDigest != nil, hasMatchDigest)
	set(r.MatchPattern != nil, hasMatchPattern)
	set(e.weights.total > 0, hasWeights)
	set(r.Effects.Set != 0, hasEffects)
	set(r.Replacement != nil, hasReplacement)
	set(r.Apply, applies)
	set(r.Negate, negates)
	return e
}

func (t traits) has(other traits) bool { return t&other != 0 }
