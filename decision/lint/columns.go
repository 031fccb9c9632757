package lint

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/pointsman/pointsman/decision/pattern"
)

// columns looks at each rule by itself.
func (l *linter) columns() {
	for _, r := range l.rules {
		l.user(r)
		l.clientAddr(r)
		l.digestColumn(r)
		l.expression(r, "match_digest", r.digest)
		l.expression(r, "match_pattern", r.pattern)
		l.matchDigest(r)
		l.matchPattern(r)
		l.modifiers(r)
		l.effects(r)
	}
}

func (l *linter) user(r *rule) {
	name := r.row.Username
	if name == "" || len(l.cfg.Users) == 0 {
		return
	}
	u, known := l.users[name]
	switch {
	case !known:
		remedy := "Mend the name, or add the user."
		for other := range l.users {
			if strings.EqualFold(other, name) {
				remedy = fmt.Sprintf("Names are compared byte for byte; the user is called %q.", other)
			}
		}
		l.warn(r, "username", codeUnknownUser, fmt.Sprintf("no active user is called %q, so the rule never matches", name), remedy)
	case u.FastForward:
		l.warn(r, "username", codeFastForward, fmt.Sprintf("user %q has fast_forward: its statements go to default_hostgroup %d and meet no rule", name, u.DefaultHostgroup),
			"Remove fast_forward from the user, or the rule.")
	}
}

func (l *linter) clientAddr(r *rule) {
	text := r.row.ClientAddr
	prefix, open := strings.CutSuffix(text, "%")
	if prefix == "" || strings.ContainsAny(text, "/_") || strings.Trim(prefix, "0123456789.") != "" && !strings.Contains(prefix, ":") {
		return
	}
	numbers := strings.Split(strings.TrimSuffix(prefix, "."), ".")
	whole := !strings.Contains(prefix, ":") && len(numbers) >= addressNumbers
	address := strings.Join(numbers[:min(len(numbers), addressNumbers)], ".")
	_, err := netip.ParseAddr(text)
	switch last := numbers[len(numbers)-1]; {
	case !open && err == nil:
	case whole && (!open || prefix[len(prefix)-1] == '.' || len(numbers) > addressNumbers):
		remedy := "Write four numbers from 0 to 255, or a block such as 10.1.0.0/16."
		if _, err := netip.ParseAddr(address); err == nil {
			remedy = fmt.Sprintf("Write %q, or a block such as 10.1.0.0/16.", address)
		}
		l.warn(r, "client_addr", codeAddrIncomplete, fmt.Sprintf("client_addr %q has four numbers and goes on behind them, or one of them is no number of an address, so no client has it", text), remedy)
	case !open:
		l.warn(r, "client_addr", codeAddrIncomplete, fmt.Sprintf("client_addr %q is no whole address and does not end in %%, so no client has it", text),
			fmt.Sprintf("Write %q for all addresses that begin so, or a block such as 10.1.0.0/16.", text+"%"))
	case strings.Contains(prefix, ":") || prefix[len(prefix)-1] == '.' || !goesOn(last):
	default:
		remedy := fmt.Sprintf("Write %q, or a block such as 10.1.0.0/16.", prefix+".%")
		if whole {
			remedy = fmt.Sprintf("Write %q, or a block such as 10.1.2.0/28.", prefix)
		}
		l.hint(r, "client_addr", codeAddrHalfNumber, fmt.Sprintf("client_addr %q ends inside a number: it matches %s0 and %s1 as well", text, prefix, prefix), remedy)
	}
}

const addressNumbers = 4 // of an IPv4 address

// goesOn tells whether a number of an address can have one more digit.
func goesOn(digits string) bool {
	n, err := strconv.Atoi(digits)
	return err == nil && n > 0 && n*10 <= 255
}

func (l *linter) digestColumn(r *rule) {
	text := strings.TrimSpace(r.row.Digest)
	if text != "" && !strings.HasPrefix(text, "0x") && !strings.HasPrefix(text, "0X") {
		l.hint(r, "digest", codeDecimalDigest, fmt.Sprintf("digest %q is no hexadecimal number, so nobody finds it in the output of the tools; it is %s", text, digestKey(text)),
			"Write "+digestKey(text)+".")
	}
}

func (l *linter) expression(r *rule, field string, e *expression) {
	if e == nil {
		return
	}
	if e.always && r.row.NegateMatchPattern {
		l.warn(r, field, codeNeverMatches, field+" matches every text and negate_match_pattern inverts that, so the rule never matches",
			"Remove negate_match_pattern, or write the expression of what is to be left out.")
	}
	if hazardous(e.sequence) {
		l.hint(r, field, codeNestedQuantifier, field+" repeats a group that holds nothing but repetitions: other engines, ProxySQL's among them, can need exponential time for it",
			"Repeat one of the two only: (a+)+ matches what a+ does.")
	}
	re, err := pattern.Compile(e.source, e.caseless)
	if err == nil && !re.InSet() {
		l.hint(r, field, codeBacktracking, field+" can't be matched together with the others in one pass over the text: it is tried by itself, and a statement on which that takes too many steps doesn't match",
			"Write it without look-around, back-references, atomic groups and large counts, for example as two rules.")
	}
}

func (l *linter) matchPattern(r *rule) {
	if r.pattern == nil || r.digest != nil || r.row.ReplacePattern != nil || !*l.settings.QueryDigests || len(r.pattern.branches) == 0 {
		return
	}
	source := r.pattern.source
	if strings.ContainsAny(source, "'\"0123456789#[`;") || strings.Contains(source, `\d`) || strings.Contains(strings.ReplaceAll(source, `\`, ""), "/*") || strings.Contains(source, "--") {
		return
	}
	for i := range r.pattern.branches {
		if b := &r.pattern.branches[i]; !b.anchored || b.prefix == "" {
			return
		}
	}
	l.hint(r, "match_pattern", codeMatchPattern,
		"match_pattern looks at the text as sent: a comment or blanks in front of the statement keep the rule from matching, and answers can be reused for equal texts only (cache_scope text)",
		"Write the expression as match_digest: it looks at the text without comments and literals.")
}

func (l *linter) modifiers(r *rule) {
	if r.row.ReModifiers == nil {
		return
	}
	m, err := pattern.ParseModifiers(*r.row.ReModifiers)
	if err != nil || m.Caseless || !m.Global {
		return
	}
	for _, e := range []*expression{r.digest, r.pattern} {
		if e != nil && fold(e.source) != strings.ToUpper(e.source) {
			l.hint(r, "re_modifiers", codeCaseSensitive, "re_modifiers GLOBAL alone makes the expressions case-sensitive: the default CASELESS counts only while the column is absent",
				"Write CASELESS,GLOBAL.")
			return
		}
	}
}

func (l *linter) effects(r *rule) {
	row := r.row
	if row.NegateMatchPattern && row.ReplacePattern != nil {
		l.warn(r, "replace_pattern", codeNegateReplace, "the rule matches where match_pattern is not found (negate_match_pattern), so replace_pattern finds nothing to replace",
			"Remove replace_pattern, or turn the expression round.")
	}
	if row.OKMsg != nil && row.ErrorMsg != nil {
		l.warn(r, "error_msg", codeOKAndError, "the rule has ok_msg as well, which wins: the client never sees error_msg", "Remove one of the two.")
	}
	var idle []string
	for _, column := range []struct {
		name string
		set  bool
	}{{"cache_timeout", row.CacheTimeout != nil}, {"reconnect", row.Reconnect != nil}, {"sticky_conn", row.StickyConn != nil}} {
		if column.set {
			idle = append(idle, column.name)
		}
	}
	if len(idle) > 0 {
		l.hint(r, idle[0], codeNoEffect, strings.Join(idle, ", ")+": handed on to callers, but nothing acts on it, as in ProxySQL", "Leave it out.")
	}
}
