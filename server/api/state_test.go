package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/api"
	"github.com/pointsman/pointsman/server/internal/memstore"
	"github.com/pointsman/pointsman/server/translate"
	"github.com/pointsman/pointsman/store"
)

// broken can't be compiled: two routes name a class that is not there.
func broken(route string) *configv1.Config {
	cfg := split()
	cfg.Guideline = strings.ReplaceAll(document, `["primaries"]`, `["`+route+`"]`)
	cfg.GuidelineBinding = binding()
	return cfg
}

// refuse publishes what is refused.
func (f *fixture) refuse(t *testing.T, cfg *configv1.Config, author string) {
	t.Helper()
	_, err := f.PublishConfig(t.Context(), &configv1.PublishConfigRequest{Config: cfg, Author: author, Note: "try"})
	wantError(t, err, codes.InvalidArgument, api.ReasonInvalidConfig)
}

func (f *fixture) state(t *testing.T) *configv1.GetConfigStateResponse {
	t.Helper()
	got, err := f.GetConfigState(t.Context(), &configv1.GetConfigStateRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// wantState checks the state, the generation in force and whose publication was refused (none: "").
func (f *fixture) wantState(t *testing.T, want configv1.ConfigState, running uint64, refused string) *configv1.GetConfigStateResponse {
	t.Helper()
	got := f.state(t)
	if got.GetState() != want || got.GetRunningGeneration() != running || got.GetRejection().GetAuthor() != refused ||
		(got.GetRejection() == nil) != (refused == "") || got.GetRunningProblem() != "" {
		t.Fatalf("state %v, want %v with generation %d and a refusal of %q", got, want, running, refused)
	}
	return got
}

const (
	empty   = configv1.ConfigState_CONFIG_STATE_EMPTY
	current = configv1.ConfigState_CONFIG_STATE_CURRENT
	stale   = configv1.ConfigState_CONFIG_STATE_STALE
	invalid = configv1.ConfigState_CONFIG_STATE_INVALID
)

func TestConfigState(t *testing.T) {
	f := newFixture(t)
	f.wantState(t, empty, 0, "")
	f.publish(t, split())
	f.wantState(t, current, 1, "")
	before, err := f.RouteStatement(t.Context(), ask(1, "SELECT 1"))
	if err != nil {
		t.Fatal(err)
	}

	// Refused ones change nothing but the state, each in place of the one before.
	began := time.Now()
	for i, author := range []string{"ann", "bob", "ann"} {
		f.refuse(t, broken(fmt.Sprint("nothing", i)), author)
		r := f.wantState(t, stale, 1, author).GetRejection()
		if r.GetProblemCount() != 2 || len(r.GetProblems()) != 2 || !strings.Contains(r.GetProblems()[0].GetMessage(), fmt.Sprintf("'nothing%d'", i)) ||
			!strings.HasPrefix(r.GetProblems()[0].GetPath(), "guideline") || r.GetProblems()[0].GetSeverity() != configv1.Severity_SEVERITY_ERROR {
			t.Errorf("rejection %v", r)
		}
		if r.GetNote() != "try" || len(r.GetDigest()) != 64 || r.GetCreateTime().AsTime().Before(began) {
			t.Errorf("rejection %v", r)
		}
	}
	after, err := f.RouteStatement(t.Context(), ask(1, "SELECT 1"))
	if err != nil || after.String() != before.String() {
		t.Errorf("answer %v, error %v, want %v", after, err, before)
	}

	// What is no publication, or none that was looked at, is no refusal.
	if _, err := f.ValidateConfig(t.Context(), &configv1.ValidateConfigRequest{Config: broken("x")}); err != nil {
		t.Fatal(err)
	}
	_, err = f.PublishConfig(t.Context(), &configv1.PublishConfigRequest{Config: broken("x"), ExpectedGeneration: new(uint64(7)), Author: "eve"})
	wantError(t, err, codes.FailedPrecondition, api.ReasonGenerationConflict)
	_, err = f.PublishConfig(t.Context(), &configv1.PublishConfigRequest{Author: "eve"})
	wantError(t, err, codes.InvalidArgument, api.ReasonInvalidField)
	f.wantState(t, stale, 1, "ann")

	// Other servers of the same store know it too, and those that start later.
	other := newFixtureOf(t, f.store)
	if _, err := other.live.AtLeast(patience(t), 1); err != nil {
		t.Fatal(err)
	}
	other.wantState(t, stale, 1, "ann")

	f.publish(t, split())
	f.wantState(t, current, 2, "")
	f.refuse(t, broken("again"), "bob")
	f.wantState(t, stale, 2, "bob")
	if _, err := f.RollbackConfig(t.Context(), &configv1.RollbackConfigRequest{Generation: 1}); err != nil {
		t.Fatal(err)
	}
	f.wantState(t, current, 3, "")
}

func TestConfigStateInvalid(t *testing.T) {
	f := newFixture(t)
	f.refuse(t, broken("nothing"), "ann")
	if got := f.wantState(t, invalid, 0, "ann"); got.GetNewestGeneration() != 0 {
		t.Errorf("state %v", got)
	}
	_, err := f.RouteStatement(t.Context(), ask(1, "SELECT 1"))
	wantError(t, err, codes.Unavailable, api.ReasonNoGeneration)
	if !strings.Contains(err.Error(), "publish a valid configuration") {
		t.Errorf("error %v", err)
	}
	f.publish(t, split())
	f.wantState(t, current, 1, "")
}

// A generation that this server can't run, whoever put it into the store.
func TestConfigStateOfTheFeed(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	stored, err := translate.Marshal(broken("nothing"))
	if err != nil {
		t.Fatal(err)
	}
	f.store.Put(stored, translate.Format)
	for {
		got := f.state(t)
		if got.GetState() == stale {
			if got.GetRunningGeneration() != 1 || got.GetNewestGeneration() != 2 || got.GetRejection() != nil ||
				!strings.Contains(got.GetRunningProblem(), "generation 2 can't be brought into force") {
				t.Errorf("state %v", got)
			}
			break
		}
		if patience(t).Err() != nil {
			t.Fatalf("state %v", got)
		}
	}
	f.publish(t, split())
	f.wantState(t, current, 3, "")
}

func TestRejectionIsBounded(t *testing.T) {
	f := newFixture(t)
	cfg := split()
	cfg.Users = append(cfg.Users, &configv1.User{Username: "nobody", DefaultHostgroup: 10}) // a warning
	for i := range int64(300) {
		cfg.QueryRules = append(cfg.QueryRules, &configv1.QueryRule{RuleId: i + 10, MatchDigest: new("(" + strings.Repeat("x", 5000))})
	}
	f.refuse(t, cfg, "ann")
	r := f.state(t).GetRejection()
	if r.GetProblemCount() != 300 || len(r.GetProblems()) < 50 || len(r.GetProblems()) > 100 {
		t.Errorf("%d problems of %d", len(r.GetProblems()), r.GetProblemCount())
	}
	for _, p := range r.GetProblems() {
		if p.GetSeverity() != configv1.Severity_SEVERITY_ERROR {
			t.Errorf("a warning takes an error's place: %v", p)
		}
	}
	head, err := f.store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if b, err := json.Marshal(head.Rejection); err != nil || len(b) > 128<<10 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// Warnings are told behind the errors, but are no reasons.
func TestRejectionCountsErrors(t *testing.T) {
	f := newFixture(t)
	cfg := split()
	for _, name := range []string{"a", "b", "c"} {
		cfg.Users = append(cfg.Users, &configv1.User{Username: name, DefaultHostgroup: 10}) // without a password
	}
	cfg.QueryRules[0].MatchDigest = new("(")
	_, err := f.PublishConfig(t.Context(), &configv1.PublishConfigRequest{Config: cfg})
	wantError(t, err, codes.InvalidArgument, api.ReasonInvalidConfig, "problem_count", "1")
	r := f.state(t).GetRejection()
	var severities []string
	for _, p := range r.GetProblems() {
		severities = append(severities, strings.TrimPrefix(p.GetSeverity().String(), "SEVERITY_"))
	}
	if got := strings.Join(severities, " "); r.GetProblemCount() != 1 || got != "ERROR WARNING WARNING WARNING" {
		t.Errorf("%d errors of %s", r.GetProblemCount(), got)
	}
}

func TestRejectionHasNoCredentials(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split()) // its password is kept
	cfg := split()
	cfg.Users[0].Password = nil
	cfg.Users = append(cfg.Users,
		&configv1.User{Username: "a", Password: new("*67890secret67890secret67890secret67890sec"), DefaultHostgroup: 10},
		&configv1.User{Username: "b", Password: new("$A$005$secret"), DefaultHostgroup: 10},
		&configv1.User{Username: "c", Password: new("secret"), BackendUsername: "x", BackendPassword: new("secret"), DefaultHostgroup: 77})
	f.refuse(t, cfg, "ann")
	head, err := f.store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(head.Rejection)
	if err != nil || strings.Contains(string(b), "secret") || head.Rejection.ProblemCount < 2 {
		t.Errorf("record %s, error %v", b, err)
	}
}

// The refusal is told whatever becomes of its record.
func TestRejectionCannotBeWritten(t *testing.T) {
	st := &failingReject{Store: &memstore.Store{}}
	service := newConfig(st)
	for _, failure := range []error{store.ErrUnavailable, &store.ConflictError{Expected: 1, Current: 2}, errors.New("whatever")} {
		st.failure = failure
		_, err := service.PublishConfig(t.Context(), &configv1.PublishConfigRequest{Config: broken("nothing")})
		wantError(t, err, codes.InvalidArgument, api.ReasonInvalidConfig)
	}
}

type failingReject struct {
	*memstore.Store

	failure error
}

func (s *failingReject) Reject(context.Context, store.Head, store.Rejection) error { return s.failure }
