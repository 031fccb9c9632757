package rules

import (
	"cmp"
	"slices"
	"sync"

	"github.com/pointsman/pointsman/decision/pattern"
)

// None stands for an absent flag, port or hostgroup.
const None int32 = -1

// Rule is one active query rule, checked and compiled. Numbers that are None and texts that are empty say nothing.
// Rules with the same expression should share its Regexp.
type Rule struct {
	ID           uint32
	FlagIn       int32
	Username     string
	Schemaname   string
	ClientAddr   *AddressPattern
	ProxyAddr    *AddressPattern
	ProxyPort    int32
	HasDigest    bool
	Digest       uint64
	MatchDigest  *pattern.Regexp
	MatchPattern *pattern.Regexp
	Negate       bool // inverts MatchDigest and MatchPattern, each on its own
	FlagOut      int32
	FlagOuts     []WeightedFlag
	Replacement  *pattern.Replacement // nil: no rewrite; needs MatchPattern
	Global       bool
	Destination  int32
	Effects      Effects
	Apply        bool
}

// needsDigest tells whether the rule can't match without a digest.
func (r *Rule) needsDigest() bool { return r.HasDigest || r.MatchDigest != nil }

// Set is an immutable set of rules in order of evaluation.
type Set struct {
	entries  []entry
	briefs   []brief      // of entries, in step
	digests  *pattern.Set // each match_digest once that a pattern.Set takes
	patterns *pattern.Set // the same of match_pattern
	index    *index

	looksAtSchemaname bool
	looksAtClientAddr bool
	looksAtProxyAddr  bool
	looksAtProxyPort  bool
	looksAtText       bool
	hasMirrorFlagOut  bool
}

// NewSet puts rules in order of rule_id. Without digests, rules that need one never match.
func NewSet(list []Rule, digests bool) *Set {
	s := &Set{entries: make([]entry, 0, len(list)), briefs: make([]brief, len(list))}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Rule) int { return cmp.Compare(a.ID, b.ID) })
	ofDigests, ofPatterns := newExpressions(), newExpressions()
	for _, r := range list {
		if r.needsDigest() && !digests {
			continue
		}
		s.entries = append(s.entries, newEntry(&s.briefs[len(s.entries)], r, ofDigests.id(r.MatchDigest), ofPatterns.id(r.MatchPattern)))
		s.looksAtSchemaname = s.looksAtSchemaname || r.Schemaname != ""
		s.looksAtClientAddr = s.looksAtClientAddr || r.ClientAddr != nil
		s.looksAtProxyAddr = s.looksAtProxyAddr || r.ProxyAddr != nil
		s.looksAtProxyPort = s.looksAtProxyPort || r.ProxyPort != None
		s.looksAtText = s.looksAtText || r.MatchPattern != nil
		s.hasMirrorFlagOut = s.hasMirrorFlagOut || r.Effects.Has(MirrorFlagOut)
	}
	var parts sync.WaitGroup
	parts.Go(func() { s.digests = pattern.NewSet(ofDigests.list, pattern.SetOptions{}) })
	parts.Go(func() { s.patterns = pattern.NewSet(ofPatterns.list, pattern.SetOptions{}) })
	s.index = newIndex(s.entries, len(ofDigests.list), len(ofPatterns.list))
	parts.Wait()
	return s
}

// expressions numbers the distinct expressions that a pattern.Set takes.
type expressions struct {
	list []*pattern.Regexp
	ids  map[*pattern.Regexp]int
}

func newExpressions() *expressions { return &expressions{ids: make(map[*pattern.Regexp]int)} }

// id gives the number of an expression, or -1 if there is none or no Set takes it.
func (e *expressions) id(re *pattern.Regexp) int {
	if re == nil || !re.InSet() {
		return -1
	}
	id, ok := e.ids[re]
	if !ok {
		id = len(e.list)
		e.ids[re] = id
		e.list = append(e.list, re)
	}
	return id
}

// LooksAtSchemaname tells whether any rule has a schemaname.
func (s *Set) LooksAtSchemaname() bool { return s.looksAtSchemaname }

// LooksAtClientAddr tells whether any rule has a client_addr.
func (s *Set) LooksAtClientAddr() bool { return s.looksAtClientAddr }

// LooksAtProxyAddr tells whether any rule has a proxy_addr.
func (s *Set) LooksAtProxyAddr() bool { return s.looksAtProxyAddr }

// LooksAtProxyPort tells whether any rule has a proxy_port.
func (s *Set) LooksAtProxyPort() bool { return s.looksAtProxyPort }

// LooksAtText tells whether any rule has a match_pattern.
func (s *Set) LooksAtText() bool { return s.looksAtText }

// HasMirrorFlagOut tells whether any rule has a mirror_flagOUT, so that mirrored copies have walks of their own.
func (s *Set) HasMirrorFlagOut() bool { return s.hasMirrorFlagOut }
