package api_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/api"
)

func TestExplainStatement(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	req := ask(7, "SELECT * FROM t WHERE id = 5")
	x, err := f.ExplainStatement(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	routed, err := f.RouteStatement(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(x.GetAnswer(), routed) {
		t.Errorf("answer %v\nwant   %v", x.GetAnswer(), routed)
	}
	if want := "hostgroup 20 because rule 2 matches and ends the walk"; x.GetSummary() != want {
		t.Errorf("summary %q, want %q", x.GetSummary(), want)
	}
	steps := x.GetWalk().GetSteps()
	if len(steps) != 2 || steps[0].GetMatched() || steps[0].GetFailedColumn() != "match_digest" || steps[0].GetWanted() != "^SELECT .* FOR UPDATE" ||
		steps[0].GetGot() != "SELECT * FROM t WHERE id = ?" || !steps[1].GetMatched() || !steps[1].GetStopped() {
		t.Errorf("steps %v", steps)
	}
}

func TestExplainStatementErrors(t *testing.T) {
	f := newFixture(t)
	_, err := f.ExplainStatement(t.Context(), ask(1, "SELECT 1"))
	wantError(t, err, codes.Unavailable, api.ReasonNoGeneration)
	f.publish(t, split())
	for field, change := range map[string]func(*decisionv1.RouteStatementRequest){
		"session":          func(r *decisionv1.RouteStatementRequest) { r.Session = nil },
		"session.username": func(r *decisionv1.RouteStatementRequest) { r.Session.Username = "nobody" },
		"statement": func(r *decisionv1.RouteStatementRequest) {
			r.Statement.Body = &decisionv1.Statement_Text{Text: strings.Repeat("x", 1<<20+1)}
		},
		"statement.command": func(r *decisionv1.RouteStatementRequest) { r.Statement.Command = 9 },
	} {
		req := ask(1, "SELECT 1")
		change(req)
		_, err := f.ExplainStatement(t.Context(), req)
		wantError(t, err, codes.InvalidArgument, api.ReasonInvalidField, "field", field)
	}
	req := ask(1, "SELECT 1")
	req.MinGeneration = 9
	_, err = f.ExplainStatement(t.Context(), req)
	wantError(t, err, codes.FailedPrecondition, api.ReasonGenerationNotReached, "min_generation", "9", "current_generation", "1")
}

// TestExplainAnyBytes wants explanations of texts that are not UTF-8 to be messages that can be sent.
func TestExplainAnyBytes(t *testing.T) {
	f := newFixture(t)
	cfg := split()
	cfg.QueryRules = append(cfg.QueryRules,
		&configv1.QueryRule{RuleId: 3, MatchPattern: new("x"), ReplacePattern: new("y"), MirrorFlagOut: proto.Int64(4)},
		&configv1.QueryRule{RuleId: 4, FlagIn: 4, MatchPattern: new("z")})
	f.publish(t, cfg)
	req := ask(1, "")
	req.Statement.Body = &decisionv1.Statement_RawText{RawText: []byte("/* hostgroup=3;\xff=\xfe */ \xe4x")}
	x, err := f.ExplainStatement(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	steps := x.GetWalk().GetSteps()
	if got := steps[2].GetRewrite().GetAfter(); !strings.HasSuffix(got, "\uFFFDy") {
		t.Errorf("rewritten to %q", got)
	}
	if got := x.GetMirror().GetWalk().GetSteps(); len(got) != 2 || !strings.HasSuffix(got[1].GetGot(), "\uFFFDy") {
		t.Errorf("mirror's steps %v", got)
	}
}

// TestExplainInTurn has many callers explain at once, some of whom give up.
func TestExplainInTurn(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	gone, leave := context.WithCancel(t.Context())
	leave()
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			if _, err := f.ExplainStatement(t.Context(), ask(1, "SELECT 1")); err != nil {
				t.Error(err)
			}
			if _, err := f.ExplainStatement(gone, ask(1, "SELECT 1")); status.Code(err) != codes.Canceled {
				t.Errorf("a caller who has gone: error %v", err)
			}
		})
	}
	callers.Wait()
}
