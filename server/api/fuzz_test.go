package api_test

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/pointsman/pointsman/decision/live"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/translate"
)

// FuzzRouteRequest feeds requests of any bytes: the answer is a decision that can be sent, or names a field.
func FuzzRouteRequest(f *testing.F) {
	cfg := split()
	cfg.QueryRules = append(cfg.QueryRules,
		&configv1.QueryRule{RuleId: 3, ClientAddr: "10.0.0.%", MatchPattern: new("a+(b|c)"), ReplacePattern: new(`\1`), FlagOut: proto.Int64(1)},
		&configv1.QueryRule{RuleId: 4, FlagIn: 1, MirrorHostgroup: proto.Int64(20), MirrorFlagOut: proto.Int64(2)},
	)
	stored, err := translate.Marshal(cfg)
	if err != nil {
		f.Fatal(err)
	}
	g, err := loaded.Load(1, "", translate.Format, stored)
	if err != nil {
		f.Fatal(err)
	}
	holder := &live.Holder[loaded.Generation]{}
	holder.Swap(1, g)
	service := newDecision(holder)

	for _, req := range []*decisionv1.RouteStatementRequest{
		ask(1, "SELECT 1"),
		ask(2, "/* hostgroup=3;min_gtid=a:1 */ UPDATE t SET aab = 1"),
		{Session: &decisionv1.Session{Username: "app", ClientAddr: "10.0.0.7", NextQueryFlagIn: proto.Int32(1)}, Statement: &decisionv1.Statement{Body: &decisionv1.Statement_RawText{RawText: []byte("aac\xff")}}},
		{Session: &decisionv1.Session{Username: "app", TransactionHostgroup: proto.Int32(10)}, Statement: &decisionv1.Statement{Digest: "0x1", RawDigestText: []byte("\xff"), Command: decisionv1.Command_COMMAND_EXECUTE}},
		{},
	} {
		b, err := proto.Marshal(req)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		req := &decisionv1.RouteStatementRequest{}
		if proto.Unmarshal(b, req) != nil {
			return
		}
		req.MinGeneration = 0
		resp, err := service.RouteStatement(t.Context(), req)
		if err != nil {
			if status.Code(err) != codes.InvalidArgument {
				t.Fatalf("error %v", err)
			}
			return
		}
		if _, err := proto.Marshal(resp); err != nil {
			t.Fatal(err)
		}
		if resp.GetReason() == decisionv1.Reason_REASON_UNSPECIFIED || resp.GetCacheScope() == decisionv1.CacheScope_CACHE_SCOPE_UNSPECIFIED {
			t.Fatalf("answer %v", resp)
		}
	})
}
