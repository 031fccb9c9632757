package ctl

import (
	"fmt"
	"strconv"
	"strings"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// minFolded is how many neighbours that fail on the same column become one line.
const minFolded = 4

// rule prints one line about a rule, or some.
func (p *printer) rule(ids, verdict, format string, args ...any) {
	fmt.Fprintf(&p.out, "%8s  %-4s %s\n", ids, verdict, fmt.Sprintf(format, args...))
}

// walk prints the rules looked at, and tells whether they rewrote the text.
func (p *printer) walk(name string, w *decisionv1.ExplainedWalk) (rewritten bool) {
	steps := w.GetSteps()
	if len(steps) == 0 {
		p.line(name, "none")
		return false
	}
	p.line(name, "with flag %d", steps[0].GetFlag())
	flag := steps[0].GetFlag()
	var waiting []*decisionv1.RuleStep
	for i := 0; i < len(steps); i++ {
		s := steps[i]
		if s.GetFailedColumn() == "flag_in" && !p.all {
			waiting = append(waiting, s)
			continue
		}
		if s.GetFlag() != flag {
			flag = s.GetFlag()
			p.line("", "with flag %d", flag)
		}
		switch n := alike(steps[i:]); {
		case s.GetMatched():
			p.match(s)
			rewritten = rewritten || s.GetRewrite().GetAfter() != ""
		case n >= minFolded && !p.all:
			rules := uint32(0)
			for _, s := range steps[i : i+n] {
				rules += s.GetRules()
			}
			i += n - 1
			p.rule(span(s.GetRuleId(), steps[i].GetLastRuleId()), "no", "%s fails (%d rules, --all lists them)", s.GetFailedColumn(), rules)
		default:
			p.miss(s, rewritten)
		}
	}
	if len(waiting) > 0 {
		p.rule("", "", "passed over, waiting for another flag: %s", flags(waiting))
	}
	if n := w.GetDroppedMisses(); n > 0 {
		p.rule("", "", "%s at rules that don't match, not kept", count(n, "more look", "more looks"))
	}
	if n := w.GetDroppedMatches(); n > 0 {
		p.rule("", "", "%s, not kept", count(n, "more match", "more matches"))
	}
	if n := w.GetUnreachedCount(); n > 0 {
		p.rule("", "", "not looked at, behind the end of the walk: %s", ids(w.GetUnreachedRules(), int(n)))
	}
	return rewritten
}

// flags lists rules that wait for another flag.
func flags(steps []*decisionv1.RuleStep) string {
	const most = 6
	var list []string
	for _, s := range steps[:min(len(steps), most)] {
		text := span(s.GetRuleId(), s.GetLastRuleId())
		if s.GetWanted() != "" {
			text += fmt.Sprintf(" (flag %s)", s.GetWanted())
		}
		list = append(list, text)
	}
	if more := len(steps) - most; more > 0 {
		list = append(list, "and more (--all lists them)")
	}
	return strings.Join(list, ", ")
}

// alike counts the failures on one column, one after the other, that may become one line.
func alike(steps []*decisionv1.RuleStep) int {
	n := 0
	for n < len(steps) && !steps[n].GetMatched() && steps[n].GetWhy() == "" &&
		steps[n].GetFailedColumn() == steps[0].GetFailedColumn() && steps[n].GetFlag() == steps[0].GetFlag() {
		n++
	}
	return n
}

// miss prints why a rule does not match.
func (p *printer) miss(s *decisionv1.RuleStep, rewritten bool) {
	what := s.GetFailedColumn()
	switch {
	case s.GetWanted() == "" && s.GetGot() == "":
		what += " fails"
	case what == "flag_in":
		what = fmt.Sprintf("flag_in %s, not %s", s.GetWanted(), s.GetGot())
	case what == "proxy_port" && p.session.GetProxyPort() == 0:
		what = fmt.Sprintf("proxy_port %s, and the port is unknown (--proxy-port)", value(s.GetWanted()))
	case what == "match_digest":
		what += fmt.Sprintf(" %s fails on the digest", value(s.GetWanted()))
	case what == "match_pattern" && rewritten:
		what += fmt.Sprintf(" %s fails on the rewritten text %s", value(s.GetWanted()), value(s.GetGot()))
	case what == "match_pattern":
		what += fmt.Sprintf(" %s fails on the text", value(s.GetWanted()))
	default:
		what += fmt.Sprintf(" %s, not %s", value(s.GetWanted()), value(s.GetGot()))
	}
	if s.GetWhy() != "" {
		what += ": " + s.GetWhy()
	}
	if s.GetRules() > 1 {
		what += fmt.Sprintf(" (%d rules)", s.GetRules())
	}
	p.rule(span(s.GetRuleId(), s.GetLastRuleId()), "no", "%s%s", what, remark(s))
}

// match prints what a rule did that matches.
func (p *printer) match(s *decisionv1.RuleStep) {
	var conditions []string
	for _, c := range s.GetConditions() {
		if c.GetColumn() != "flag_in" {
			conditions = append(conditions, c.GetColumn()+" "+value(c.GetWanted())+p.passes(c.GetColumn()))
		}
	}
	if len(conditions) == 0 {
		conditions = []string{"every statement"}
	}
	p.rule(span(s.GetRuleId(), s.GetRuleId()), "YES", "%s%s", strings.Join(conditions, ", "), remark(s))
	var does []string
	for _, set := range s.GetSet() {
		does = append(does, setting(set))
	}
	if s.FlagOut != nil {
		text := fmt.Sprintf("flag becomes %d", s.GetFlagOut())
		if s.GetFlagDrawn() {
			text += " (drawn by weight)"
		}
		does = append(does, text)
	}
	if s.GetRestarted() {
		does = append(does, "begins again at the first rule")
	}
	if s.GetStopped() {
		does = append(does, "apply ends the walk")
	}
	if r := s.GetRewrite(); r.GetWhy() != "" {
		does = append(does, fmt.Sprintf("replace_pattern %s changes nothing: %s", value(r.GetReplacePattern()), r.GetWhy()))
	}
	if len(does) == 0 && s.GetRewrite() == nil {
		does = []string{"sets nothing"}
	}
	if len(does) > 0 {
		p.rule("", "", "-> %s", strings.Join(does, "; "))
	}
	if r := s.GetRewrite(); r.GetWhy() == "" && r != nil {
		p.rule("", "", "rewrites %s", value(r.GetBefore()))
		p.rule("", "", "      to %s", value(r.GetAfter()))
	}
}

// remark is the rule's comment.
func remark(s *decisionv1.RuleStep) string {
	if s.GetComment() == "" {
		return ""
	}
	return "   # " + value(s.GetComment())
}

func span(first, last uint32) string {
	if first == last {
		return strconv.FormatUint(uint64(first), 10)
	}
	return fmt.Sprintf("%d-%d", first, last)
}

func count(n uint32, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
