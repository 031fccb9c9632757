package translate

import (
	"slices"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/digest"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

// AnswerToProto overwrites resp with a. Nothing of a is shared, so a may be used again at once. The fields
// request_id and session_attributes are the caller's to fill in.
func AnswerToProto(a *decision.Answer, resp *decisionv1.RouteStatementResponse) {
	resp.Reset()
	resp.Generation = a.Generation
	resp.Cookie = slices.Clone(a.Cookie)
	resp.CacheScope = scopeToProto(a.CacheScope)
	resp.Reason = ReasonToProto(a.Reason)
	if a.HasDigest {
		resp.Digest = digest.Format(a.Digest)
		var exact bool
		if resp.DigestText, exact = text(a.DigestText); !exact {
			resp.RawDigestText = slices.Clone(a.DigestText)
		}
	}
	resp.MatchedRules = slices.Clone(a.MatchedRules)
	resp.MatchedRulesTruncated = a.MatchedRulesTruncated
	resp.FinalFlagIn = a.FinalFlagIn
	resp.FastRoute = a.FastRoute
	if a.DestinationHostgroup != decision.None {
		resp.DestinationHostgroup = new(a.DestinationHostgroup)
	}
	if a.IsRewritten {
		shown, exact := text(a.Rewritten)
		resp.RewrittenText = &shown
		if !exact {
			resp.RawRewrittenText = slices.Clone(a.Rewritten)
		}
	}
	resp.ExecuteNeedsText = a.ExecuteNeedsText
	resp.TooComplex = a.TooComplex
	effectsToProto(&a.Effects, resp)
	if a.HasMirror {
		resp.Mirror = &decisionv1.Mirror{
			DestinationHostgroup: a.Mirror.DestinationHostgroup,
			MatchedRules:         slices.Clone(a.Mirror.MatchedRules),
		}
	}
	if a.HasGuideline {
		resp.Guideline = ChoiceToProto(&a.Guideline)
	}
}

// ChoiceToProto gives the API's form of what a guideline says. It shares the list of pools, which never changes.
func ChoiceToProto(c *decision.Choice) *decisionv1.GuidelineChoice {
	return &decisionv1.GuidelineChoice{Guideline: c.Guideline, Route: c.Name, Mode: guidelineModeToProto(c.Mode), Pools: c.Pools}
}

func guidelineModeToProto(m decision.GuidelineMode) decisionv1.GuidelineMode {
	switch m {
	case decision.GuidelineAll:
		return decisionv1.GuidelineMode_GUIDELINE_MODE_ALL
	case decision.GuidelineWrite:
		return decisionv1.GuidelineMode_GUIDELINE_MODE_WRITE
	case decision.GuidelineRead:
		return decisionv1.GuidelineMode_GUIDELINE_MODE_READ
	}
	return decisionv1.GuidelineMode_GUIDELINE_MODE_UNSPECIFIED
}

// ReasonToProto gives the API's reason.
func ReasonToProto(r decision.Reason) decisionv1.Reason {
	switch r {
	case decision.ReasonRule:
		return decisionv1.Reason_REASON_RULE
	case decision.ReasonFastRoute:
		return decisionv1.Reason_REASON_FAST_ROUTE
	case decision.ReasonAnnotation:
		return decisionv1.Reason_REASON_ANNOTATION
	case decision.ReasonDefaultHostgroup:
		return decisionv1.Reason_REASON_DEFAULT_HOSTGROUP
	case decision.ReasonTransaction:
		return decisionv1.Reason_REASON_TRANSACTION
	case decision.ReasonLocked:
		return decisionv1.Reason_REASON_LOCKED
	case decision.ReasonAnswered:
		return decisionv1.Reason_REASON_ANSWERED
	case decision.ReasonGuideline:
		return decisionv1.Reason_REASON_GUIDELINE
	}
	return decisionv1.Reason_REASON_UNSPECIFIED
}

func scopeToProto(s decision.CacheScope) decisionv1.CacheScope {
	switch s {
	case decision.ScopeNone:
		return decisionv1.CacheScope_CACHE_SCOPE_NONE
	case decision.ScopeDigest:
		return decisionv1.CacheScope_CACHE_SCOPE_DIGEST
	case decision.ScopeText:
		return decisionv1.CacheScope_CACHE_SCOPE_TEXT
	}
	return decisionv1.CacheScope_CACHE_SCOPE_UNSPECIFIED
}

// effectsToProto sets the fields of the effects that are set. A value's own storage costs one small allocation.
func effectsToProto(e *decision.Effects, resp *decisionv1.RouteStatementResponse) {
	if e.Set == 0 {
		return
	}
	resp.ErrorMsg = ifSet(e, decision.ErrorMsg, e.ErrorMsg)
	resp.OkMsg = ifSet(e, decision.OKMsg, e.OKMsg)
	resp.CacheTtlMs = ifSet(e, decision.CacheTTL, e.CacheTTL)
	resp.CacheEmptyResult = ifSet(e, decision.CacheEmptyResult, e.CacheEmptyResult)
	resp.CacheTimeoutMs = ifSet(e, decision.CacheTimeout, e.CacheTimeout)
	resp.TimeoutMs = ifSet(e, decision.Timeout, e.Timeout)
	resp.Retries = ifSet(e, decision.Retries, e.Retries)
	resp.DelayMs = ifSet(e, decision.Delay, e.Delay)
	resp.Reconnect = ifSet(e, decision.Reconnect, e.Reconnect)
	resp.MirrorHostgroup = ifSet(e, decision.MirrorHostgroup, e.MirrorHostgroup)
	resp.MirrorFlagOut = ifSet(e, decision.MirrorFlagOut, e.MirrorFlagOut)
	resp.NextQueryFlagIn = ifSet(e, decision.NextQueryFlagIn, e.NextQueryFlagIn)
	resp.StickyConn = ifSet(e, decision.StickyConn, e.StickyConn)
	resp.Multiplex = ifSet(e, decision.Multiplex, e.Multiplex)
	resp.GtidFromHostgroup = ifSet(e, decision.GTIDFromHostgroup, e.GTIDFromHostgroup)
	resp.Log = ifSet(e, decision.Log, e.Log)
	resp.MaxLagMs = ifSet(e, decision.MaxLagMS, e.MaxLagMS)
	resp.CreateNewConn = ifSet(e, decision.CreateNewConn, e.CreateNewConn)
	if e.Has(decision.MinGTID) {
		shown, _ := text(e.MinGTID)
		resp.MinGtid = &shown
	}
}

func ifSet[T any](e *decision.Effects, f decision.Field, v T) *T {
	if !e.Has(f) {
		return nil
	}
	return &v
}
