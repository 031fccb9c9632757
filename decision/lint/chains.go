package lint

import (
	"fmt"
	"slices"
)

// chains finds out which rules walks can reach, and reports those that none can.
func (l *linter) chains() {
	l.walks()
	l.unreached()
	for _, r := range l.rules {
		l.catchAll(r)
	}
	for _, r := range l.rules {
		l.flagOut(r)
	}
	l.stuck()
}

// givers are the active rules that set a flag, by it.
func (l *linter) givers() map[int64][]*rule {
	out := make(map[int64][]*rule)
	for _, r := range l.rules {
		flags := slices.Clone(r.flags)
		if r.row.Apply {
			flags = nil // the walk ends here
		}
		for _, p := range []*int64{r.row.NextQueryFlagIn, r.row.MirrorFlagOut} {
			if p != nil && !slices.Contains(flags, *p) {
				flags = append(flags, *p)
			}
		}
		for _, flag := range flags {
			out[flag] = append(out[flag], r)
		}
	}
	return out
}

// maxNamed is the most rules that a finding names.
const maxNamed = 20

func (l *linter) unreached() {
	givers := l.givers()
	for _, r := range l.rules {
		if r.reached {
			continue
		}
		flag := r.row.FlagIn
		give := givers[flag]
		give = give[:min(len(give), maxNamed)]
		_, entered := l.lastEntry(r)
		stopper := l.stopperBefore(r)
		switch {
		case entered && stopper != nil:
			l.warn(r, "flag_in", codeUnreachableRule,
				fmt.Sprintf("no walk gets to this rule: rule %d in front of it has flag_in %d as well, matches everything and %s", stopper.row.RuleID, flag, leaving(stopper)),
				"Move it before that rule, or remove one of the two.", stopper)
		case len(give) == 0:
			l.warn(r, "flag_in", codeUnreachableRule,
				fmt.Sprintf("no walk gets to this rule: no active rule without apply has flag_out %d, and none has it as next_query_flag_in or mirror_flag_out", flag),
				fmt.Sprintf("Let a rule of another chain set flag_out %d, mend flag_in, or remove the rule.", flag))
		case !slices.ContainsFunc(give, func(g *rule) bool { return g.reached }):
			l.warn(r, "flag_in", codeUnreachableRule,
				fmt.Sprintf("no walk gets to this rule: flag %d is set by rules only that no walk gets to themselves", flag),
				"Mend those rules first.", give...)
		default:
			l.warn(r, "flag_in", codeUnreachableRule,
				fmt.Sprintf("no walk gets to this rule: flag %d is set by later rules only, and a walk does not go back while query_processor_iterations is 0", flag),
				"Give the rules of a chain higher numbers than the rule that leads to it, or set query_processor_iterations to 1 or more.", give...)
		}
	}
}

// leaving says how a rule keeps the walk from those behind it.
func leaving(r *rule) string {
	if r.row.Apply {
		return "has apply"
	}
	return "leads to another chain"
}

// stopperBefore gives the rule that keeps walks from r, if there is one.
func (l *linter) stopperBefore(r *rule) *rule {
	chain := l.chain[r.row.FlagIn]
	for i := after(chain, r.place-1) - 1; i >= 0; i-- {
		if chain[i].always && chain[i].leaves() {
			return chain[i]
		}
	}
	return nil
}

// catchAll reports a rule that matches everything and stands in front of others.
func (l *linter) catchAll(r *rule) {
	if !r.always || !r.reached {
		return
	}
	chain := l.chain[r.row.FlagIn]
	rest := chain[after(chain, r.place):]
	rest = rest[:min(len(rest), maxNamed)]
	lost := slices.DeleteFunc(slices.Clone(rest), func(o *rule) bool { return o.reached })
	switch {
	case r.leaves() && len(lost) > 0:
		l.warn(r, "", codeCatchAllNotLast,
			fmt.Sprintf("the rule matches everything and %s, so rules behind it in the chain of flag %d are never reached", leaving(r), r.row.FlagIn),
			"Move it to the end of its chain, or give it the predicates that it lacks.", lost...)
	case !r.leaves() && r.hasDestination() && len(rest) > 0:
		l.hint(r, "destination_hostgroup", codeCatchAllNotLast,
			fmt.Sprintf("the rule matches everything and gives a destination, but other rules of flag %d follow: it overrides what rules before it have said, and those behind it may override it", r.row.FlagIn),
			"If it is a default, move it to the end of its chain and give apply to the rules before it; or leave it out and use default_hostgroup of the users.",
			rest...)
	}
}

// flagOut looks at where a rule leads.
func (l *linter) flagOut(r *rule) {
	weighted, listed := weights(r.row)
	switch {
	case listed && r.row.FlagOut != nil:
		l.warn(r, "attributes", codeWeightsIgnored, "the rule has flag_out as well, which beats the weighted flagOUTs", "Remove one of the two.")
	case listed && len(weighted) == 0:
		l.warn(r, "attributes", codeWeightsIgnored, "all weights of flagOUTs are 0, so no flag is ever chosen", "Give at least one flag a weight.")
	}
	if len(r.flags) == 0 {
		return
	}
	field := "flag_out"
	if r.row.FlagOut == nil {
		field = "attributes"
	}
	if r.row.Apply {
		l.warn(r, field, codeFlagOutWithApply, "the walk ends at this rule because of apply, so the flag that it sets leads nowhere", "Remove apply if the walk is to go on in that chain, else the flag.")
		return
	}
	again := *l.settings.QueryProcessorIterations > 0
	for _, flag := range r.flags {
		chain := l.chain[flag]
		switch {
		case flag == r.row.FlagIn:
		case len(chain) == 0:
			remedy := "If that is meant, apply says it better; else mend the number."
			if field == "attributes" {
				remedy = "If the walk is to end for this share of the statements, leave it; else mend the number."
			}
			if !l.routeFlags[flag] {
				l.hint(r, field, codeEmptyChain,
					fmt.Sprintf("no active rule has flag_in %d and no fast route has it: the walk ends here for what this rule matches", flag),
					remedy)
			}
		case !again && after(chain, r.place) == len(chain):
			l.warn(r, field, codeBackwardFlag,
				fmt.Sprintf("all rules of flag %d have lower numbers than this rule, and a walk does not go back while query_processor_iterations is 0: none of them is looked at", flag),
				"Give the rules of that chain higher numbers, or set query_processor_iterations to 1 or more.", chain[:min(len(chain), maxNamed)]...)
		}
	}
}

// stuck reports flags that are stored in sessions and never replaced.
func (l *linter) stuck() {
	leaves := make(map[int64]bool) // whether statements that begin at a flag can store another one
	for _, r := range l.rules {
		p := r.row.NextQueryFlagIn
		if !r.reached || p == nil || *p == 0 {
			continue
		}
		can, known := leaves[*p]
		if !known {
			can = l.storesOther(*p)
			leaves[*p] = can
		}
		if !can {
			l.hint(r, "next_query_flag_in", codeStuckFlag,
				fmt.Sprintf("from then on every statement of the session starts at flag %d, and no rule that it can meet there stores another flag: rules of flag 0 are not looked at again", *p),
				"Add a rule to that chain that stores next_query_flag_in 0.")
		}
	}
}

// storesOther tells whether a walk from flag can meet a rule that stores another one.
func (l *linter) storesOther(flag int64) bool {
	open := []int64{flag}
	seen := map[int64]bool{flag: true}
	for len(open) > 0 {
		chain := l.chain[open[0]]
		open = open[1:]
		for _, r := range chain {
			if p := r.row.NextQueryFlagIn; p != nil && *p != flag {
				return true
			}
			for _, next := range r.flags {
				if !seen[next] {
					seen[next] = true
					open = append(open, next)
				}
			}
		}
	}
	return false
}
