package lint

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pointsman/pointsman/decision/digest"
)

// coverage reports rules that others make useless.
func (l *linter) coverage() {
	l.shadowed()
	l.overridden()
}

// shadowed reports rules that never match because one before them takes all that they could.
func (l *linter) shadowed() {
	stoppers, others := newCoverIndex(l), newCoverIndex(l)
	for _, r := range l.rules {
		if !r.reached || r.never {
			continue
		}
		last, _ := l.lastEntry(r)
		// A rule that the walk may have entered behind keeps nothing from r.
		by := stoppers.find(r, func(o *rule) bool { return o.place > last })
		if by != nil {
			l.reportShadowed(r, by)
			continue // by covers whatever r covers
		}
		if twin := others.twin(r); twin != nil {
			l.hint(r, "", codeDuplicateRule,
				fmt.Sprintf("the rule has the same predicates as rule %d, so both match the same statements and this one overrides what both set", twin.row.RuleID),
				"Put both into one rule.", twin)
		}
		switch {
		case !r.leaves():
			others.add(r)
		case !r.always: // what it leaves behind is unreachable, and reported as such
			stoppers.add(r)
		}
	}
}

func (l *linter) reportShadowed(r, by *rule) {
	why := fmt.Sprintf("the rule never matches: rule %d comes first, matches whatever this one does and %s", by.row.RuleID, leaving(by))
	if r.row.CacheTTL != nil {
		l.warn(r, "cache_ttl", codeShadowedCacheRule, why+", so nothing is cached by this rule", "Move it before that rule, or set cache_ttl there.", by)
		return
	}
	remedy := "Move it before that rule, or remove it."
	if r.row.MatchDigest != nil && by.row.MatchDigest != nil && *r.row.MatchDigest == *by.row.MatchDigest {
		remedy = "Remove one of the two, or give the first one the predicates that it lacks."
	}
	l.warn(r, "", codeShadowedRule, why, remedy, by)
}

// twin gives a rule with equal conditions and expressions.
func (x *coverIndex) twin(r *rule) *rule {
	b := x.buckets[conditionsOf(r.row)]
	if b == nil || r.pattern != nil && x.rewrites {
		return nil
	}
	whichever := func(*rule) bool { return true }
	if r.digest == nil && r.pattern == nil {
		return b.everything.pick(whichever)
	}
	return b.equal[keyOf(r)].pick(whichever)
}

// overridden reports destinations that a later rule replaces whenever the rule matches. The rules are added from the
// last to the first, so that an index holds those behind.
func (l *linter) overridden() {
	later := newCoverIndex(l)
	// savers are the places, by flag, of the next rule that may end a walk with the destination that it has.
	savers := make(map[int64]int)
	for _, r := range slices.Backward(l.rules) {
		if !r.reached || r.never {
			continue
		}
		flag := r.row.FlagIn
		limit, saved := savers[flag]
		if r.hasDestination() && !r.leaves() && len(r.flags) == 0 {
			by := overrider(later, r, func(o *rule) bool { return !saved || o.place <= limit })
			if by != nil {
				l.warn(r, "destination_hostgroup", codeOverridden,
					fmt.Sprintf("destination_hostgroup %d never counts: the walk goes on, and rule %d matches whatever this rule does and gives another one, %d", *r.row.DestinationHostgroup, by.row.RuleID, *by.row.DestinationHostgroup),
					"Add apply to this rule, or leave its destination out.", by)
			}
		}
		if r.hasDestination() {
			later.add(r)
		}
		if !r.hasDestination() && (r.row.Apply || len(r.flags) > 0) {
			savers[flag] = r.place
		}
	}
}

// overrider gives a rule behind r that matches whatever r does and gives another destination. Such a rule with apply comes
// first, unless the walk ends before it with r's hostgroup.
func overrider(later *coverIndex, r *rule, inReach func(*rule) bool) *rule {
	same := func(o *rule) bool { return *o.row.DestinationHostgroup == *r.row.DestinationHostgroup }
	by := later.find(r, func(o *rule) bool { return inReach(o) && o.row.Apply && !same(o) })
	if by == nil {
		if by = later.find(r, inReach); by == nil || same(by) {
			return nil
		}
	}
	if later.find(r, func(o *rule) bool { return o.place < by.place && o.leaves() && same(o) }) != nil {
		return nil
	}
	return by
}

func formatInt(n int64) string { return strconv.FormatInt(n, 10) }

// digestKey gives equal texts for equal digests.
func digestKey(text string) string {
	if text == "" {
		return ""
	}
	n, err := digest.Parse(text)
	if err != nil {
		return strings.TrimSpace(text)
	}
	return digest.Format(n)
}
