package lint

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity says how sure a finding is.
type Severity uint8

// The severities.
const (
	// Warning: what the configuration says is without effect or breaks something, for sure.
	Warning Severity = iota + 1
	// Hint: it may be meant, but is often a mistake.
	Hint
)

// String gives "warning" or "hint".
func (s Severity) String() string {
	if s == Hint {
		return "hint"
	}
	return "warning"
}

// Finding is one thing that somebody should look at.
type Finding struct {
	Code       string // a stable word for programs, e.g. "shadowed_rule"
	Severity   Severity
	RuleID     int64   // the query rule, 0 when it is not about one
	Path       string  // where in the document, e.g. "query_rules[3].match_digest"
	Message    string  // what is so, and why
	Remedy     string  // what to do about it
	OtherRules []int64 // the other rules that take part, in order of rule_id
}

// The codes. docs/lint.md explains each of them; they don't change.
const (
	codeUnreachableRule   = "unreachable_rule"
	codeShadowedRule      = "shadowed_rule"
	codeShadowedCacheRule = "shadowed_cache_rule"
	codeDuplicateRule     = "duplicate_rule"
	codeOverridden        = "overridden_destination"
	codeCatchAllNotLast   = "catch_all_not_last"
	codeBackwardFlag      = "backward_flag"
	codeEmptyChain        = "empty_chain"
	codeFlagOutWithApply  = "flag_out_with_apply"
	codeWeightsIgnored    = "weights_ignored"
	codeStuckFlag         = "stuck_flag"

	codeNeverMatches     = "never_matches"
	codeImpossibleDigest = "impossible_match_digest"
	codeNumberInDigest   = "number_in_match_digest"
	codeDecimalDigest    = "decimal_digest"
	codeCaseSensitive    = "case_sensitive"
	codeBacktracking     = "backtracking_expression"
	codeNestedQuantifier = "nested_quantifier"
	codeMatchPattern     = "match_pattern_not_needed"
	codeNegateReplace    = "negate_with_replace"
	codeAddrIncomplete   = "client_addr_incomplete"
	codeAddrHalfNumber   = "client_addr_half_number"
	codeUnknownUser      = "unknown_user"
	codeFastForward      = "fast_forward_user"
	codeNoEffect         = "column_without_effect"
	codeOKAndError       = "ok_and_error"

	codeNoUsableServer  = "no_usable_server"
	codeLockingRead     = "locking_read"
	codeReadsMissed     = "reads_missed"
	codeBeginElsewhere  = "begin_elsewhere"
	codeFastRouteFlag   = "fast_route_flag"
	codeFastRouteUser   = "fast_route_user"
	codeFastRouteSchema = "fast_route_schema"
	codeApplyHides      = "apply_hides_fast_route"

	codeGuidelineNever = "guideline_never_matches"
)

// Codes are all codes that a finding can have, sorted.
func Codes() []string {
	list := []string{
		codeUnreachableRule, codeShadowedRule, codeShadowedCacheRule, codeDuplicateRule, codeOverridden, codeCatchAllNotLast,
		codeBackwardFlag, codeEmptyChain, codeFlagOutWithApply, codeWeightsIgnored, codeStuckFlag,
		codeNeverMatches, codeImpossibleDigest, codeNumberInDigest, codeDecimalDigest, codeCaseSensitive, codeBacktracking,
		codeNestedQuantifier, codeMatchPattern, codeNegateReplace, codeAddrIncomplete, codeAddrHalfNumber, codeUnknownUser,
		codeFastForward, codeNoEffect, codeOKAndError,
		codeNoUsableServer, codeLockingRead, codeReadsMissed, codeBeginElsewhere, codeFastRouteFlag, codeFastRouteUser,
		codeFastRouteSchema, codeApplyHides, codeGuidelineNever,
	}
	slices.Sort(list)
	return list
}

// The lists of the document, in its order.
const (
	listUsers = iota
	listRules
	listRoutes
	listGuideline // no list: its findings have their paths
)

var listNames = [...]string{"users", "query_rules", "fast_routes"}

// placed is a finding with its place in the document.
type placed struct {
	list, index int
	Finding
}

// found adds a finding about a row; field is empty when the whole row is meant.
func (l *linter) found(list, index int, field, code string, severity Severity, message, remedy string) *Finding {
	path := fmt.Sprintf("%s[%d]", listNames[list], index)
	if field != "" {
		path += "." + field
	}
	f := placed{list, index, Finding{Code: code, Severity: severity, Path: path, Message: message, Remedy: remedy}}
	if list == listRules {
		f.RuleID = l.cfg.QueryRules[index].RuleID
	}
	l.findings = append(l.findings, f)
	return &l.findings[len(l.findings)-1].Finding
}

// warn and hint add findings about a rule.
func (l *linter) warn(r *rule, field, code, message, remedy string, others ...*rule) {
	l.found(listRules, r.index, field, code, Warning, message, remedy).OtherRules = ids(others)
}

func (l *linter) hint(r *rule, field, code, message, remedy string, others ...*rule) {
	l.found(listRules, r.index, field, code, Hint, message, remedy).OtherRules = ids(others)
}

func ids(rules []*rule) (out []int64) {
	for _, r := range rules {
		out = append(out, r.row.RuleID)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// sorted gives the findings in the document's order.
func (l *linter) sorted() []Finding {
	slices.SortStableFunc(l.findings, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.list, b.list), cmp.Compare(a.index, b.index))
	})
	out := make([]Finding, len(l.findings))
	for i := range out {
		out[i] = l.findings[i].Finding
	}
	return out
}
