package decision

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pointsman/pointsman/decision/digest"
	"github.com/pointsman/pointsman/decision/pattern"
	"github.com/pointsman/pointsman/decision/rules"
)

const maxRetries = 1000

func (c *compiler) rules() {
	list := make([]rules.Rule, 0, len(c.cfg.QueryRules))
	first := make(map[int64]int, len(c.cfg.QueryRules))
	c.expressionsOf = compileExpressions(c.cfg.QueryRules)
	for i := range c.cfg.QueryRules {
		r := &c.cfg.QueryRules[i]
		at := row{list: "query_rules", index: i, ruleID: r.RuleID, severity: Error}
		c.inRange(at, "rule_id", r.RuleID, 1, maxInt32)
		if other, dup := first[r.RuleID]; dup {
			c.reportf(at, "rule_id", codeDuplicateKey, "rule_id %d of query_rules[%d] is already that of query_rules[%d]; give one of the two another number", r.RuleID, i, other)
		} else {
			first[r.RuleID] = i
		}
		active := *filled(r.Active, true)
		if !active {
			at.severity = Warning
		}
		rule := c.rule(at, r)
		if active {
			list = append(list, rule)
		}
	}
	c.g.rules = rules.NewSet(list, c.g.digests)
}

// rule checks one rule, column by column in the document's order.
func (c *compiler) rule(at row, r *QueryRule) rules.Rule {
	var err error
	out := rules.Rule{
		ID:          uint32(r.RuleID),
		Username:    r.Username,
		Schemaname:  r.Schemaname,
		Negate:      r.NegateMatchPattern,
		ProxyPort:   None,
		FlagOut:     None,
		Destination: None,
		Apply:       r.Apply,
	}
	c.inRange(at, "flag_in", r.FlagIn, 0, maxInt32)
	out.FlagIn = int32(r.FlagIn)
	if r.ClientAddr != "" {
		out.ClientAddr, err = rules.ParseClientAddr(r.ClientAddr)
		c.addressProblem(at, "client_addr", codeBadClientAddr, err)
	}
	if r.ProxyAddr != "" {
		out.ProxyAddr, err = rules.ParseProxyAddr(r.ProxyAddr)
		c.addressProblem(at, "proxy_addr", codeBadProxyAddr, err)
		if i := strings.IndexAny(r.ProxyAddr, "%_"); i >= 0 && out.ProxyAddr != nil && r.ProxyAddr[0] != '/' {
			c.warn(at, "proxy_addr", i, codeBadProxyAddr, fmt.Sprintf(
				"proxy_addr is %q, but %% and _ are no wildcards there, so it matches this very text only; give a list of CIDR blocks", r.ProxyAddr))
		}
	}
	c.number32(at, "proxy_port", r.ProxyPort, maxProxyPort, &out.ProxyPort)
	if r.Digest != "" {
		out.HasDigest = true
		if out.Digest, err = digest.Parse(r.Digest); err != nil {
			c.report(at, "digest", whole, codeBadDigest, err.Error())
		}
	}
	c.expressions(at, r, &out)
	c.number32(at, "flag_out", r.FlagOut, maxInt32, &out.FlagOut)
	c.replacement(at, r, &out)
	c.destination(at, r, &out)
	out.Effects = c.effects(at, r)
	if r.Attributes != "" {
		out.FlagOuts = c.flagOuts(at, r.Attributes)
	}
	return out
}

func (c *compiler) addressProblem(at row, field, code string, err error) {
	if bad, ok := errors.AsType[*rules.AddressError](err); ok {
		c.report(at, field, bad.Pos, code, bad.Msg)
	}
}

// number32 takes over an optional number from 0 to high.
func (c *compiler) number32(at row, field string, p *int64, high int64, to *int32) {
	if p != nil && c.inRange(at, field, *p, 0, high) {
		*to = int32(*p)
	}
}

// expressions compiles match_digest and match_pattern.
func (c *compiler) expressions(at row, r *QueryRule, out *rules.Rule) {
	modifiers, modifiersErr := reModifiers(r)
	out.Global = modifiers.Global
	out.MatchDigest = c.expression(at, "match_digest", r.MatchDigest, modifiers.Caseless)
	out.MatchPattern = c.expression(at, "match_pattern", r.MatchPattern, modifiers.Caseless)
	if modifiersErr != nil {
		c.report(at, "re_modifiers", whole, codeUnknownModifier, modifiersErr.Error())
	}
	if !c.g.digests && (r.Digest != "" || r.MatchDigest != nil) {
		c.warnf(at, "", codeDigestsOff, "rule %d looks at the digest, but query_digests is off, so it never matches; turn query_digests on, or use match_pattern", r.RuleID)
	}
	if at.severity == Error && (backtracks(out.MatchDigest) || backtracks(out.MatchPattern)) {
		c.g.backtracking = append(c.g.backtracking, r.RuleID)
	}
}

func (c *compiler) expression(at row, field string, expr *string, caseless bool) *pattern.Regexp {
	if expr == nil {
		return nil
	}
	x := c.expressionsOf[expressionKey{*expr, caseless}]
	if x.err != nil {
		pos, msg := whole, x.err.Error()
		if syntax, ok := errors.AsType[*pattern.SyntaxError](x.err); ok {
			pos, msg = syntax.Pos, syntax.Msg
		}
		c.report(at, field, pos, codeRegexSyntax, fmt.Sprintf("%s is no valid expression: %s", field, msg))
		return nil
	}
	if backtracks(x.re) {
		c.warnf(at, field, codeRegexBacktracking,
			"%s uses syntax that can only be matched by trying (look-around, back-references, atomic groups and the like); a statement on which that takes too many steps doesn't match", field)
	}
	return x.re
}

func backtracks(re *pattern.Regexp) bool { return re != nil && re.Backtracking() }

func (c *compiler) replacement(at row, r *QueryRule, out *rules.Rule) {
	if r.ReplacePattern == nil {
		return
	}
	if r.MatchPattern == nil {
		c.reportf(at, "replace_pattern", codeReplaceNoPattern, "replace_pattern replaces what match_pattern matches, but there is no match_pattern; add one or remove replace_pattern")
		return
	}
	if out.MatchPattern == nil {
		return // the expression itself is reported
	}
	replacement, err := pattern.ParseReplacement(*r.ReplacePattern, out.MatchPattern.Groups())
	if err != nil {
		pos, msg := whole, err.Error()
		if syntax, ok := errors.AsType[*pattern.SyntaxError](err); ok {
			pos, msg = syntax.Pos, syntax.Msg
		}
		c.report(at, "replace_pattern", pos, codeBadReplacement, "replace_pattern can't be used: "+msg)
		return
	}
	out.Replacement = replacement
}

// destination takes a negative hostgroup as unset, as ProxySQL does.
func (c *compiler) destination(at row, r *QueryRule, out *rules.Rule) {
	const field = "destination_hostgroup"
	switch p := r.DestinationHostgroup; {
	case p == nil:
	case *p < 0:
		c.warnf(at, field, codeNegativeHostgroup, "destination_hostgroup is %d, which acts as unset, as in ProxySQL; leave it out or give a hostgroup", *p)
	case c.inRange(at, field, *p, 0, maxInt32):
		out.Destination = int32(*p)
		c.wantHostgroup(at, field, out.Destination)
	}
}

// effects takes over the columns that say what to do.
func (c *compiler) effects(at row, r *QueryRule) rules.Effects {
	var e rules.Effects
	unsigned := func(field string, p *int64, low, high int64, f Field, to *uint32) {
		if p != nil && c.inRange(at, field, *p, low, high) {
			*to = uint32(*p)
			e.Set |= f
		}
	}
	signed := func(field string, p *int64, f Field, to *int32) {
		if p != nil && c.inRange(at, field, *p, 0, maxInt32) {
			*to = int32(*p)
			e.Set |= f
		}
	}
	unsigned("cache_ttl", r.CacheTTL, 1, maxUint32, CacheTTL, &e.CacheTTL)
	setEffect(&e, r.CacheEmptyResult, CacheEmptyResult, &e.CacheEmptyResult)
	unsigned("cache_timeout", r.CacheTimeout, 0, maxUint32, CacheTimeout, &e.CacheTimeout)
	setEffect(&e, r.Reconnect, Reconnect, &e.Reconnect)
	unsigned("timeout", r.Timeout, 0, maxUint32, Timeout, &e.Timeout)
	unsigned("retries", r.Retries, 0, maxRetries, Retries, &e.Retries)
	unsigned("delay", r.Delay, 0, maxUint32, Delay, &e.Delay)
	signed("next_query_flag_in", r.NextQueryFlagIn, NextQueryFlagIn, &e.NextQueryFlagIn)
	signed("mirror_flag_out", r.MirrorFlagOut, MirrorFlagOut, &e.MirrorFlagOut)
	signed("mirror_hostgroup", r.MirrorHostgroup, MirrorHostgroup, &e.MirrorHostgroup)
	setEffect(&e, r.ErrorMsg, ErrorMsg, &e.ErrorMsg)
	setEffect(&e, r.OKMsg, OKMsg, &e.OKMsg)
	setEffect(&e, r.StickyConn, StickyConn, &e.StickyConn)
	unsigned("multiplex", r.Multiplex, 0, 2, Multiplex, &e.Multiplex)
	signed("gtid_from_hostgroup", r.GTIDFromHostgroup, GTIDFromHostgroup, &e.GTIDFromHostgroup)
	setEffect(&e, r.Log, Log, &e.Log)
	return e
}

func setEffect[T any](e *rules.Effects, p *T, f Field, to *T) {
	if p != nil {
		*to = *p
		e.Set |= f
	}
}
