package rules

import (
	"cmp"
	"slices"

	"github.com/pointsman/pointsman/decision/pattern"
)

// None stands for an absent flag, port or hostgroup.
const None int32 = -1

// Rule is one active query rule, checked and compiled. Numbers that are None and texts that are empty say nothing.
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

// entry is a rule as the walk sees it.
type entry struct {
	Rule
	client  int // place in Set.clients, or -1
	proxy   int // place in Set.proxies, or -1
	weights weights
}

// Set is an immutable set of rules in order of evaluation.
type Set struct {
	entries []entry
	clients []*AddressPattern // each distinct client_addr once
	proxies []*AddressPattern

	looksAtSchemaname bool
	looksAtProxyPort  bool
	looksAtText       bool
}

// NewSet puts rules in order of rule_id. Without digests, rules that need one never match.
func NewSet(list []Rule, digests bool) *Set {
	s := &Set{entries: make([]entry, 0, len(list))}
	places := make(map[string]int)
	place := func(to *[]*AddressPattern, kind string, p *AddressPattern) int {
		if p == nil {
			return -1
		}
		key := kind + p.key()
		at, ok := places[key]
		if !ok {
			at = len(*to)
			places[key] = at
			*to = append(*to, p)
		}
		return at
	}
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Rule) int { return cmp.Compare(a.ID, b.ID) })
	for _, r := range list {
		if r.needsDigest() && !digests {
			continue
		}
		s.entries = append(s.entries, entry{
			Rule:    r,
			client:  place(&s.clients, "client ", r.ClientAddr),
			proxy:   place(&s.proxies, "proxy ", r.ProxyAddr),
			weights: newWeights(r.FlagOuts),
		})
		s.looksAtSchemaname = s.looksAtSchemaname || r.Schemaname != ""
		s.looksAtProxyPort = s.looksAtProxyPort || r.ProxyPort != None
		s.looksAtText = s.looksAtText || r.MatchPattern != nil
	}
	return s
}

// LooksAtSchemaname tells whether any rule has a schemaname.
func (s *Set) LooksAtSchemaname() bool { return s.looksAtSchemaname }

// LooksAtClientAddr tells whether any rule has a client_addr.
func (s *Set) LooksAtClientAddr() bool { return len(s.clients) > 0 }

// LooksAtProxyAddr tells whether any rule has a proxy_addr.
func (s *Set) LooksAtProxyAddr() bool { return len(s.proxies) > 0 }

// LooksAtProxyPort tells whether any rule has a proxy_port.
func (s *Set) LooksAtProxyPort() bool { return s.looksAtProxyPort }

// LooksAtText tells whether any rule has a match_pattern.
func (s *Set) LooksAtText() bool { return s.looksAtText }

// Matches are the address patterns of a Set that a session's addresses fit: everything that rules can see of them.
type Matches struct {
	client []uint64 // bit i: the session fits Set.clients[i]
	proxy  []uint64
}

// MatchAddresses fills m for a session. An empty address is unknown and fits every pattern.
func (s *Set) MatchAddresses(m *Matches, clientAddr, proxyAddr string) {
	m.client = matchAll(m.client[:0], s.clients, clientAddr)
	m.proxy = matchAll(m.proxy[:0], s.proxies, proxyAddr)
}

// AppendTo appends the patterns' bits to dst, in a form that is equal exactly for equal matches of one Set.
func (m *Matches) AppendTo(dst []byte) []byte {
	for _, words := range [...][]uint64{m.client, m.proxy} {
		for _, w := range words {
			for range 8 {
				dst = append(dst, byte(w))
				w >>= 8
			}
		}
	}
	return dst
}

func matchAll(dst []uint64, patterns []*AddressPattern, text string) []uint64 {
	addr := Address{Text: text}
	for i, p := range patterns {
		if i%64 == 0 {
			dst = append(dst, 0)
		}
		if text == "" || p.Match(&addr) {
			dst[i/64] |= 1 << (i % 64)
		}
	}
	return dst
}

// fits tells whether bit i is set; -1 stands for no pattern.
func fits(words []uint64, i int) bool {
	return i < 0 || words[i/64]>>(i%64)&1 != 0
}
