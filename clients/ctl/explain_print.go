package ctl

import (
	"fmt"
	"strconv"
	"strings"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// maxShown is how many characters of one value are printed.
const maxShown = 160

// printer writes an explanation for people.
type printer struct {
	out     strings.Builder
	all     bool
	execute bool // the statement is an EXECUTE
	session *decisionv1.ExplainedSession
}

// line prints a line that bears a name.
func (p *printer) line(name, format string, args ...any) {
	fmt.Fprintf(&p.out, "%-14s %s\n", name, fmt.Sprintf(format, args...))
}

func (p *printer) print(x *decisionv1.ExplainStatementResponse) {
	a := x.GetAnswer()
	fmt.Fprintf(&p.out, "%s\n\n", printable(x.GetSummary()))
	p.session = x.GetSession()
	p.line("session", "%s", sessionLine(p.session)+p.unknown(x))
	if a.GetDigest() != "" {
		p.line("digest", "%s  %s", a.GetDigest(), value(a.GetDigestText()))
	}
	if c := x.GetComment(); c.GetText() != "" {
		p.line("comment", "%s", value("/*"+c.GetText()+"*/"))
	}
	rewritten := false
	if w := x.GetWalk(); w != nil {
		rewritten = p.walk("rules", w)
	}
	if n := x.GetNotLoadedRules(); len(n) > 0 {
		why := "not active"
		if a.GetDigest() == "" {
			why += ", or in want of a digest"
		}
		p.line("not loaded", "%s: %s", ids(n, len(n)), why)
	}
	p.fastRoute(x.GetFastRoute())
	p.annotations(x.GetComment())
	if g := x.GetGuideline(); g != nil {
		p.guideline(g)
	}
	if c := a.GetGuideline(); c.GetRoute() != "" {
		p.line("stands in", "%s", choiceLine(c))
	}
	p.line("destination", "%s", destinations(x.GetDestinations()))
	if m := x.GetMirror(); m != nil {
		p.line("mirror", "%s", destinations(m.GetDestinations()))
		if w := m.GetWalk(); w != nil {
			p.walk("mirror's rules", w)
		}
	}
	switch {
	case a.RewrittenText != nil:
		p.line("sent instead", "%s", value(a.GetRewrittenText()))
	case p.execute && rewritten:
		p.line("sent instead", "nothing: an EXECUTE is not rewritten")
	}
	scope := strings.ToLower(strings.TrimPrefix(a.GetCacheScope().String(), "CACHE_SCOPE_"))
	if reasons := x.GetCacheScopeReasons(); len(reasons) > 0 {
		scope += ": " + strings.Join(reasons, "; ")
	}
	p.line("reusable for", "%s", scope)
	p.line("generation", "%d", a.GetGeneration())
}

// schemaSources says where a schema comes from that the session did not name.
var schemaSources = map[decisionv1.SchemaSource]string{
	decisionv1.SchemaSource_SCHEMA_SOURCE_USER:    " (the user's default_schema)",
	decisionv1.SchemaSource_SCHEMA_SOURCE_SETTING: " (the setting default_schema)",
}

func sessionLine(s *decisionv1.ExplainedSession) string {
	var b strings.Builder
	fmt.Fprintf(&b, "user %s, schema %s", value(s.GetUsername()), value(s.GetSchemaname()))
	b.WriteString(schemaSources[s.GetSchemaSource()])
	if s.GetClientAddr() != "" {
		fmt.Fprintf(&b, ", from %s", value(s.GetClientAddr()))
	}
	if s.GetProxyAddr() != "" || s.GetProxyPort() != 0 {
		fmt.Fprintf(&b, ", to %s:%d", printable(s.GetProxyAddr()), s.GetProxyPort())
	}
	fmt.Fprintf(&b, ", flag %d", s.GetFlagIn())
	if s.GetFastForward() {
		b.WriteString(", fast_forward")
	}
	return b.String()
}

// unknown names the addresses that the session does not have and rules look at.
func (p *printer) unknown(x *decisionv1.ExplainStatementResponse) string {
	var text strings.Builder
	for _, address := range []struct{ column, name string }{{columnClientAddr, "client address"}, {columnProxyAddr, "proxy address"}} {
		looked := false
		for _, w := range []*decisionv1.ExplainedWalk{x.GetWalk(), x.GetMirror().GetWalk()} {
			for _, s := range w.GetSteps() {
				for _, c := range s.GetConditions() {
					looked = looked || c.GetColumn() == address.column && p.passes(address.column) != ""
				}
			}
		}
		if looked {
			text.WriteString(", " + address.name + " unknown")
		}
	}
	return text.String()
}

const (
	columnClientAddr = "client_addr"
	columnProxyAddr  = "proxy_addr"
)

// passes gives a remark on a column that passes because the session's value is unknown; empty: it is known.
func (p *printer) passes(column string) string {
	const remark = " (the address is unknown, so it passes: "
	switch {
	case column == columnClientAddr && p.session.GetClientAddr() == "":
		return remark + "--client-addr)"
	case column == columnProxyAddr && p.session.GetProxyAddr() == "":
		return remark + "--proxy-addr)"
	}
	return ""
}

func (p *printer) fastRoute(f *decisionv1.ExplainedFastRoute) {
	if f.GetSkipped() != "" {
		p.line("fast route", "not looked up: %s", f.GetSkipped())
		return
	}
	tried := make([]string, 0, len(f.GetKeys()))
	for _, k := range f.GetKeys() {
		user := "any user"
		if k.GetUsername() != "" {
			user = value(k.GetUsername())
		}
		found := "no row"
		if k.GetFound() {
			found = fmt.Sprintf("hostgroup %d", k.GetDestinationHostgroup())
		}
		tried = append(tried, fmt.Sprintf("(%s, %s, flag %d): %s", user, value(k.GetSchemaname()), k.GetFlagIn(), found))
	}
	p.line("fast route", "%s", strings.Join(tried, "; "))
}

func (p *printer) annotations(c *decisionv1.ExplainedComment) {
	if c.GetSkipped() != "" {
		p.line("annotations", "none: %s", c.GetSkipped())
		return
	}
	for _, a := range c.GetAnnotations() {
		what := "ignored: " + a.GetWhy()
		if s := a.GetSet(); s != nil {
			what = "sets " + setting(s)
		}
		p.line("annotation", "%s=%s %s", value(a.GetKey()), value(a.GetValue()), what)
	}
}

func destinations(list []*decisionv1.DestinationStep) string {
	out := make([]string, 0, len(list))
	for i, d := range list {
		by := strings.ToLower(strings.TrimPrefix(d.GetBy().String(), "REASON_"))
		if d.GetRuleId() != 0 {
			by = fmt.Sprintf("rule %d", d.GetRuleId())
		}
		hostgroup := "none, answered"
		switch {
		case d.Hostgroup != nil:
			hostgroup = strconv.Itoa(int(d.GetHostgroup()))
		case d.GetBy() == decisionv1.Reason_REASON_GUIDELINE:
			hostgroup = "none, refused"
		}
		if cut := len(list) - maxDestinations; cut > 0 && i > 0 && i <= cut {
			if i == cut {
				out = append(out, fmt.Sprintf("... %d more", cut))
			}
			continue
		}
		out = append(out, fmt.Sprintf("%s (%s)", hostgroup, by))
	}
	return strings.Join(out, ", then ")
}

// maxDestinations is how many steps of a destination are printed.
const maxDestinations = 8

func setting(s *decisionv1.ExplainedSetting) string {
	text := s.GetName() + " " + value(s.GetValue())
	if s.GetOverriddenBy() != "" {
		text += fmt.Sprintf(" (overridden by %s)", s.GetOverriddenBy())
	}
	return text
}

// value is a value of any length on its line. Quotes show that it is empty or where its blanks are.
func value(s string) string {
	s = cut(printable(s), maxShown)
	if s == "" || s[0] == ' ' || s[len(s)-1] == ' ' {
		return `"` + s + `"`
	}
	return s
}

// ids lists rules, of which there are total.
func ids(list []uint32, total int) string {
	const most = 8
	var b strings.Builder
	for i, id := range list[:min(len(list), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, id)
	}
	if more := total - min(len(list), most); more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	if total == 1 {
		return "rule " + b.String()
	}
	return "rules " + b.String()
}
