package decision

import (
	"cmp"
	"slices"

	"github.com/pointsman/pointsman/decision/pattern"
)

// ruleSource is what compiled rules don't hold of their rows and explanations show.
type ruleSource struct {
	id                        uint32
	loaded                    bool // whether any statement can match it
	caseSensitive             bool
	clientAddr, proxyAddr     string
	matchDigest, matchPattern string
	replacement, comment      string
}

// ruleSources keeps what explanations show, by rule_id. The rows are known to be good.
func ruleSources(rows []QueryRule, digests bool) []ruleSource {
	out := make([]ruleSource, 0, len(rows))
	for i := range rows {
		r := &rows[i]
		s := ruleSource{
			id: uint32(r.RuleID), clientAddr: r.ClientAddr, proxyAddr: r.ProxyAddr, matchDigest: *filled(r.MatchDigest, ""),
			matchPattern: *filled(r.MatchPattern, ""), replacement: *filled(r.ReplacePattern, ""), comment: r.Comment,
		}
		s.loaded = *filled(r.Active, true) && (digests || r.Digest == "" && r.MatchDigest == nil)
		if r.ReModifiers != nil {
			m, err := pattern.ParseModifiers(*r.ReModifiers)
			s.caseSensitive = err == nil && !m.Caseless
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b ruleSource) int { return cmp.Compare(a.id, b.id) })
	return out
}

// source gives the source of a loaded rule.
func (g *Generation) source(id uint32) *ruleSource {
	at, _ := slices.BinarySearchFunc(g.sources, id, func(s ruleSource, id uint32) int { return cmp.Compare(s.id, id) })
	return &g.sources[at]
}

// notLoaded lists the rules that no statement can match.
func (g *Generation) notLoaded() []uint32 {
	var out []uint32
	for i := range g.sources {
		if s := &g.sources[i]; !s.loaded && len(out) < MaxMatchedRules {
			out = append(out, s.id)
		}
	}
	return out
}

// expression gives an expression together with what changes its meaning.
func (s *ruleSource) expression(expr string, negate bool) string {
	if s.caseSensitive {
		expr += " (case-sensitive)"
	}
	if negate {
		expr = "not " + expr
	}
	return expr
}
