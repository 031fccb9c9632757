package translate_test

import (
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/decision"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/translate"
)

func TestAnswerToProto(t *testing.T) {
	tests := map[string]struct {
		answer decision.Answer
		want   *decisionv1.RouteStatementResponse
	}{
		"plain": {
			decision.Answer{
				Generation: 3, Reason: decision.ReasonRule, CacheScope: decision.ScopeDigest, DestinationHostgroup: 0,
				MatchedRules: []uint32{5, 5}, HasDigest: true, Digest: 0x1F, DigestText: []byte("SELECT ?"), Cookie: []byte{1},
			},
			&decisionv1.RouteStatementResponse{
				Generation: 3, Reason: decisionv1.Reason_REASON_RULE, CacheScope: decisionv1.CacheScope_CACHE_SCOPE_DIGEST,
				DestinationHostgroup: proto.Int32(0), MatchedRules: []uint32{5, 5},
				Digest: "0x000000000000001F", DigestText: "SELECT ?", Cookie: []byte{1},
			},
		},
		"digests off": {
			decision.Answer{Reason: decision.ReasonDefaultHostgroup, CacheScope: decision.ScopeText, DestinationHostgroup: 7},
			&decisionv1.RouteStatementResponse{
				Reason: decisionv1.Reason_REASON_DEFAULT_HOSTGROUP, CacheScope: decisionv1.CacheScope_CACHE_SCOPE_TEXT,
				DestinationHostgroup: proto.Int32(7),
			},
		},
		"answered": {
			decision.Answer{
				Reason: decision.ReasonAnswered, CacheScope: decision.ScopeNone, DestinationHostgroup: decision.None,
				Effects: decision.Effects{Set: decision.OKMsg | decision.ErrorMsg, ErrorMsg: ""},
			},
			&decisionv1.RouteStatementResponse{
				Reason: decisionv1.Reason_REASON_ANSWERED, CacheScope: decisionv1.CacheScope_CACHE_SCOPE_NONE,
				OkMsg: new(""), ErrorMsg: new(""),
			},
		},
		"guideline": {
			decision.Answer{
				Reason: decision.ReasonGuideline, CacheScope: decision.ScopeDigest, DestinationHostgroup: 20, HasGuideline: true,
				Guideline: decision.Choice{Guideline: "g", Route: 1, Name: "r", Mode: decision.GuidelineRead, Pools: []string{"read:r", "write:r"}},
			},
			&decisionv1.RouteStatementResponse{
				Reason: decisionv1.Reason_REASON_GUIDELINE, CacheScope: decisionv1.CacheScope_CACHE_SCOPE_DIGEST, DestinationHostgroup: proto.Int32(20),
				Guideline: &decisionv1.GuidelineChoice{
					Guideline: "g", Route: "r", Mode: decisionv1.GuidelineMode_GUIDELINE_MODE_READ, Pools: []string{"read:r", "write:r"},
				},
			},
		},
		"refused by the guideline": {
			decision.Answer{
				Reason: decision.ReasonGuideline, CacheScope: decision.ScopeDigest, DestinationHostgroup: decision.None, HasGuideline: true,
				Guideline: decision.Choice{Guideline: "g", Route: decision.None, Mode: decision.GuidelineAll, Refusal: "no"},
				Effects:   decision.Effects{Set: decision.ErrorMsg, ErrorMsg: "no"},
			},
			&decisionv1.RouteStatementResponse{
				Reason: decisionv1.Reason_REASON_GUIDELINE, CacheScope: decisionv1.CacheScope_CACHE_SCOPE_DIGEST, ErrorMsg: new("no"),
				Guideline: &decisionv1.GuidelineChoice{Guideline: "g", Mode: decisionv1.GuidelineMode_GUIDELINE_MODE_ALL},
			},
		},
		"guideline for writes, while a transaction holds": {
			decision.Answer{
				Reason: decision.ReasonTransaction, CacheScope: decision.ScopeNone, DestinationHostgroup: 10, HasGuideline: true,
				Guideline: decision.Choice{Name: "r", Mode: decision.GuidelineWrite, Pools: []string{"write:r"}},
			},
			&decisionv1.RouteStatementResponse{
				Reason: decisionv1.Reason_REASON_TRANSACTION, CacheScope: decisionv1.CacheScope_CACHE_SCOPE_NONE, DestinationHostgroup: proto.Int32(10),
				Guideline: &decisionv1.GuidelineChoice{Route: "r", Mode: decisionv1.GuidelineMode_GUIDELINE_MODE_WRITE, Pools: []string{"write:r"}},
			},
		},
		"bytes": {
			decision.Answer{
				Reason: decision.ReasonTransaction, CacheScope: decision.ScopeText, HasDigest: true,
				DigestText: []byte("a\xff\xfe?"), Rewritten: []byte("\xe4x"), IsRewritten: true,
				Effects: decision.Effects{Set: decision.MinGTID, MinGTID: []byte("u\xff:1")},
			},
			&decisionv1.RouteStatementResponse{
				Reason: decisionv1.Reason_REASON_TRANSACTION, CacheScope: decisionv1.CacheScope_CACHE_SCOPE_TEXT,
				DestinationHostgroup: proto.Int32(0), Digest: "0x0000000000000000",
				DigestText: "a\uFFFD\uFFFD?", RawDigestText: []byte("a\xff\xfe?"),
				RewrittenText: new("\uFFFDx"), RawRewrittenText: []byte("\xe4x"), MinGtid: new("u\uFFFD:1"),
			},
		},
		"unset effects are absent": {
			decision.Answer{
				Reason: decision.ReasonLocked, CacheScope: decision.ScopeText,
				Effects: decision.Effects{CacheTTL: 1, Timeout: 2, MirrorHostgroup: 3, Log: true},
			},
			&decisionv1.RouteStatementResponse{
				Reason: decisionv1.Reason_REASON_LOCKED, CacheScope: decisionv1.CacheScope_CACHE_SCOPE_TEXT,
				DestinationHostgroup: proto.Int32(0),
			},
		},
		"all effects": {
			decision.Answer{
				Reason: decision.ReasonAnnotation, CacheScope: decision.ScopeText, DestinationHostgroup: 1, FinalFlagIn: 2, FastRoute: true,
				MatchedRulesTruncated: true, ExecuteNeedsText: true, TooComplex: true, Rewritten: []byte("x"), IsRewritten: true,
				HasMirror: true, Mirror: decision.Mirror{DestinationHostgroup: 9, MatchedRules: []uint32{8}},
				Effects: decision.Effects{
					Set: ^decision.Field(0), CacheTTL: 1, CacheEmptyResult: true, CacheTimeout: 2, Timeout: 3, Retries: 4, Delay: 5,
					Reconnect: true, MirrorHostgroup: 6, MirrorFlagOut: 7, NextQueryFlagIn: 8, StickyConn: true, Multiplex: 2,
					GTIDFromHostgroup: 9, Log: true, MaxLagMS: 10, CreateNewConn: true, MinGTID: []byte("g:1"), ErrorMsg: "e", OKMsg: "o",
				},
			},
			&decisionv1.RouteStatementResponse{
				Reason: decisionv1.Reason_REASON_ANNOTATION, CacheScope: decisionv1.CacheScope_CACHE_SCOPE_TEXT,
				DestinationHostgroup: proto.Int32(1), FinalFlagIn: 2, FastRoute: true, MatchedRulesTruncated: true, ExecuteNeedsText: true, TooComplex: true,
				RewrittenText: new("x"), Mirror: &decisionv1.Mirror{DestinationHostgroup: 9, MatchedRules: []uint32{8}},
				CacheTtlMs: proto.Uint32(1), CacheEmptyResult: new(true), CacheTimeoutMs: proto.Uint32(2), TimeoutMs: proto.Uint32(3),
				Retries: proto.Uint32(4), DelayMs: proto.Uint32(5), Reconnect: new(true), MirrorHostgroup: proto.Int32(6),
				MirrorFlagOut: proto.Int32(7), NextQueryFlagIn: proto.Int32(8), StickyConn: new(true), Multiplex: proto.Uint32(2),
				GtidFromHostgroup: proto.Int32(9), Log: new(true), MaxLagMs: proto.Uint32(10), CreateNewConn: new(true),
				MinGtid: new("g:1"), ErrorMsg: new("e"), OkMsg: new("o"),
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := &decisionv1.RouteStatementResponse{RequestId: 99, ErrorMsg: new("left over")}
			translate.AnswerToProto(&tt.answer, got)
			if !proto.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", protojson.Format(got), protojson.Format(tt.want))
			}
			if _, err := proto.Marshal(got); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAnswerIsNotShared(t *testing.T) {
	a := decision.Answer{
		Reason: decision.ReasonRule, CacheScope: decision.ScopeText, MatchedRules: []uint32{1}, Cookie: []byte{1}, HasDigest: true,
		DigestText: []byte{0xff}, Rewritten: []byte{0xff}, IsRewritten: true, HasMirror: true, Mirror: decision.Mirror{MatchedRules: []uint32{1}},
	}
	var resp decisionv1.RouteStatementResponse
	translate.AnswerToProto(&a, &resp)
	before := proto.CloneOf(&resp)
	a.MatchedRules[0], a.Cookie[0], a.DigestText[0], a.Rewritten[0], a.Mirror.MatchedRules[0] = 2, 2, 2, 2, 2
	if !proto.Equal(before, &resp) {
		t.Error("a response changes with the answer it was made from")
	}
}

func TestEveryReasonHasAName(t *testing.T) {
	seen := make(map[decisionv1.Reason]bool)
	for r := decision.ReasonRule; r <= decision.ReasonGuideline; r++ {
		got := translate.ReasonToProto(r)
		if got == decisionv1.Reason_REASON_UNSPECIFIED || seen[got] {
			t.Errorf("reason %d becomes %s", r, got)
		}
		seen[got] = true
	}
}
