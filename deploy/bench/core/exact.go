package core

import (
	"fmt"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/digest"
	"github.com/pointsman/pointsman/decision/rules"
	"github.com/pointsman/pointsman/deploy/bench"
)

// exact walks 10,000 rules without expressions, from resolved sessions. Half of the questions are made to fit a rule.
func (s *suite) exact() error {
	r := random(50)
	config := make([]decision.QueryRule, exactRules)
	list := make([]rules.Rule, exactRules)
	for i := range list {
		config[i] = exactRule(r, i, nil)
		var err error
		if list[i], err = compiledRule(&config[i]); err != nil {
			return err
		}
	}
	set := rules.NewSet(list, true)
	sessions := make([]rules.Attributes, 64)
	for i := range sessions {
		from := session(r)
		sessions[i] = rules.Attributes{
			Username: from.Username, Schemaname: from.Schemaname, ClientAddr: from.ClientAddr, ProxyAddr: from.ProxyAddr, ProxyPort: int32(from.ProxyPort),
		}
	}
	questions := make([]rules.Question, 4096)
	for i := range questions {
		from := sessions[r.IntN(len(sessions))]
		q := rules.Question{FlagIn: r.Int32N(chains), Digest: r.Uint64(), Iterations: 1}
		if i%2 == 0 {
			fit := &list[r.IntN(len(list))]
			q.FlagIn = fit.FlagIn
			if fit.HasDigest {
				q.Digest = fit.Digest
			}
		}
		q.Session = set.Resolve(&from)
		questions[i] = q
	}
	var fast, plain rules.Walk
	matched := 0
	for i := range questions {
		set.Walk(&questions[i], &fast)
		set.WalkPlain(&questions[i], &plain)
		if fast.Destination != plain.Destination || len(fast.Matched) != len(plain.Matched) {
			return fmt.Errorf("walk of question %d: rules %v, one by one %v", i, fast.Matched, plain.Matched)
		}
		matched += min(len(fast.Matched), 1)
	}
	if matched == 0 || matched == len(questions) {
		return fmt.Errorf("%d of %d questions match a rule: that says little", matched, len(questions))
	}
	op := bench.Op{Per: len(questions), Run: func() {
		for i := range questions {
			set.Walk(&questions[i], &fast)
			sink += uint64(fast.Destination)
		}
	}}
	m := s.meter.Measure(mapLookup(), op)
	s.report.Add("exact_10000", bench.Result{
		Value: m[1].Median(), Ratio: m[1].Over(m[0]).Median(), Allocs: s.allocs(op),
		Note: fmt.Sprintf("%d of %d match; M %.1f ns", matched, len(questions), m[0].Median()),
	})
	return nil
}

// compiledRule takes over the predicates that exactRule sets.
func compiledRule(r *decision.QueryRule) (rules.Rule, error) {
	out := rules.Rule{
		ID: uint32(r.RuleID), FlagIn: int32(r.FlagIn), Username: r.Username, Schemaname: r.Schemaname,
		ProxyPort: rules.None, FlagOut: rules.None, Destination: int32(*r.DestinationHostgroup), Apply: r.Apply,
	}
	var err error
	if r.ClientAddr != "" {
		if out.ClientAddr, err = rules.ParseClientAddr(r.ClientAddr); err != nil {
			return out, fmt.Errorf("rule %d: %w", r.RuleID, err)
		}
	}
	if r.ProxyPort != nil {
		out.ProxyPort = int32(*r.ProxyPort)
	}
	if r.Digest != "" {
		out.HasDigest = true
		if out.Digest, err = digest.Parse(r.Digest); err != nil {
			return out, fmt.Errorf("rule %d: %w", r.RuleID, err)
		}
	}
	return out, nil
}
