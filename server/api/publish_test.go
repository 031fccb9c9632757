package api_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/api"
	"github.com/pointsman/pointsman/server/translate"
	"github.com/pointsman/pointsman/store"
)

func TestPublishIsInForceAtOnce(t *testing.T) {
	f := newFixture(t)
	for n := range uint64(5) {
		cfg := split()
		cfg.QueryRules[1].DestinationHostgroup = new(10 + 10*int64(n%2))
		resp, err := f.PublishConfig(t.Context(), &configv1.PublishConfigRequest{Config: cfg, Author: "ann", Note: "why"})
		if err != nil {
			t.Fatal(err)
		}
		if resp.GetGeneration() != n+1 || len(resp.GetDigest()) != 64 {
			t.Errorf("publication %d: %v", n+1, resp)
		}
		answer, err := f.RouteStatement(t.Context(), ask(1, "SELECT 1"))
		if err != nil || answer.GetGeneration() != n+1 || answer.GetDestinationHostgroup() != 10+10*int32(n%2) {
			t.Errorf("after publication %d: %v, error %v", n+1, answer, err)
		}
	}
	list, err := f.ListGenerations(t.Context(), &configv1.ListGenerationsRequest{Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	if got := list.GetGenerations(); list.GetRunningGeneration() != 5 || len(got) != 2 || got[0].GetGeneration() != 5 ||
		got[0].GetAuthor() != "ann" || got[0].GetNote() != "why" || got[0].GetSizeBytes() == 0 || got[0].GetCreateTime().AsTime().Year() < 2020 {
		t.Errorf("generations %v", list)
	}
}

func TestPublishRefusesAllProblemsAtOnce(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	cfg := split()
	cfg.QueryRules[0].MatchDigest = new("(")
	cfg.QueryRules[1].Digest = "nonsense"
	cfg.Users[0].DefaultHostgroup = 99
	_, err := f.PublishConfig(t.Context(), &configv1.PublishConfigRequest{Config: cfg})
	wantError(t, err, codes.InvalidArgument, api.ReasonInvalidConfig)
	problems, ok := detail[*configv1.ConfigProblems](status.Convert(err))
	if !ok || len(problems.GetProblems()) != 3 {
		t.Fatalf("problems %v, want 3", problems)
	}
	for _, p := range problems.GetProblems() {
		if p.GetSeverity() != configv1.Severity_SEVERITY_ERROR || p.GetPath() == "" || p.GetCode() == "" || p.GetMessage() == "" {
			t.Errorf("problem %v", p)
		}
	}
	answer, err := f.RouteStatement(t.Context(), ask(1, "SELECT 1"))
	if err != nil || answer.GetGeneration() != 1 {
		t.Errorf("after a refusal: %v, error %v, want generation 1", answer, err)
	}
	validated, err := f.ValidateConfig(t.Context(), &configv1.ValidateConfigRequest{Config: cfg})
	if err != nil || len(validated.GetProblems()) != 3 {
		t.Errorf("validation: %v, error %v, want 3 problems", validated, err)
	}
}

// An error must fit into what clients take.
func TestManyProblems(t *testing.T) {
	f := newFixture(t)
	cfg := split()
	for i := range int64(5000) {
		cfg.QueryRules = append(cfg.QueryRules, &configv1.QueryRule{RuleId: i + 10, MatchDigest: new("(")})
	}
	var trailer metadata.MD
	_, err := f.PublishConfig(t.Context(), &configv1.PublishConfigRequest{Config: cfg}, grpc.Trailer(&trailer))
	wantError(t, err, codes.InvalidArgument, api.ReasonInvalidConfig, "problem_count", "5000")
	size := 0
	for name, values := range trailer {
		size += len(name) + len(strings.Join(values, ""))
	}
	problems, ok := detail[*configv1.ConfigProblems](status.Convert(err))
	if !ok || len(problems.GetProblems()) < 10 || size > 7<<10 {
		t.Errorf("%d problems in a trailer of %d bytes", len(problems.GetProblems()), size)
	}
	if !strings.Contains(status.Convert(err).Message(), "of 5000; ValidateConfig lists all") {
		t.Errorf("error %v does not say that there are more", err)
	}
	validated, err := f.ValidateConfig(t.Context(), &configv1.ValidateConfigRequest{Config: cfg})
	if err != nil || len(validated.GetProblems()) != 5000 {
		t.Errorf("validation: %d problems, error %v", len(validated.GetProblems()), err)
	}
}

func TestPublishBadFields(t *testing.T) {
	f := newFixture(t)
	newer := split()
	newer.GetQueryRules()[1].ProtoReflect().SetUnknown([]byte{0x82, 0x7d, 0})
	tests := map[string]struct {
		req   *configv1.PublishConfigRequest
		field string
	}{
		"no config":     {&configv1.PublishConfigRequest{}, "config"},
		"unknown field": {&configv1.PublishConfigRequest{Config: newer}, "query_rules[1]"},
		"author":        {&configv1.PublishConfigRequest{Config: split(), Author: strings.Repeat("x", 257)}, "author"},
		"note":          {&configv1.PublishConfigRequest{Config: split(), Note: strings.Repeat("x", 4097)}, "note"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := f.PublishConfig(t.Context(), tt.req)
			wantError(t, err, codes.InvalidArgument, api.ReasonInvalidField, "field", tt.field)
		})
	}
	_, err := f.ValidateConfig(t.Context(), &configv1.ValidateConfigRequest{Config: newer})
	wantError(t, err, codes.InvalidArgument, api.ReasonInvalidField, "field", "query_rules[1]")
	_, err = f.RollbackConfig(t.Context(), &configv1.RollbackConfigRequest{})
	wantError(t, err, codes.InvalidArgument, api.ReasonInvalidField, "field", "generation")
}

func TestExpectedGeneration(t *testing.T) {
	f := newFixture(t)
	for _, tt := range []struct {
		expected uint64
		ok       bool
	}{{1, false}, {0, true}, {0, false}, {1, true}} {
		_, err := f.PublishConfig(t.Context(), &configv1.PublishConfigRequest{Config: split(), ExpectedGeneration: &tt.expected})
		if tt.ok {
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		wantError(t, err, codes.FailedPrecondition, api.ReasonGenerationConflict,
			"expected_generation", strconv.FormatUint(tt.expected, 10), "current_generation", strconv.FormatUint(f.live.Generation(), 10))
	}
	_, err := f.RollbackConfig(t.Context(), &configv1.RollbackConfigRequest{Generation: 1, ExpectedGeneration: proto.Uint64(7)})
	wantError(t, err, codes.FailedPrecondition, api.ReasonGenerationConflict, "expected_generation", "7", "current_generation", "2")
}

// A password that somebody else publishes meanwhile must not be undone.
func TestPublishKeepsNewestPasswords(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	var once sync.Once
	f.store.BeforePublish(func() {
		once.Do(func() {
			other := split()
			other.Users[0].Password = new("changed meanwhile")
			stored, err := translate.Marshal(other)
			if err != nil {
				t.Error(err)
			}
			f.store.Put(stored, translate.Format)
		})
	})
	cfg := split()
	cfg.Users[0].Password = nil
	if n := f.publish(t, cfg); n != 3 {
		t.Errorf("published as generation %d, want 3", n)
	}
	if got := f.live.Current().Gateway.Users.Message.GetUsers()[0].GetPassword(); got != "changed meanwhile" {
		t.Errorf("password %q", got)
	}
}

func TestGetEditPublishKeepsCredentials(t *testing.T) {
	f := newFixture(t)
	cfg := split()
	cfg.Users[0].BackendUsername, cfg.Users[0].BackendPassword = "backend", new("deep secret")
	f.publish(t, cfg)
	got, err := f.GetConfig(t.Context(), &configv1.GetConfigRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if got.GetGeneration().GetGeneration() != 1 || strings.Contains(got.String(), "secret") {
		t.Errorf("got %v", got)
	}
	if user := got.GetConfig().GetUsers()[0]; user.Password != nil || user.BackendPassword != nil || user.GetBackendUsername() != "backend" {
		t.Errorf("user %v", user)
	}
	edited := got.GetConfig()
	edited.QueryRules[1].DestinationHostgroup = proto.Int64(10)
	f.publish(t, edited)
	user := f.live.Current().Gateway.Users.Message.GetUsers()[0]
	if user.GetPassword() != "secret" || user.GetBackendPassword() != "deep secret" {
		t.Errorf("after get, edit, publish: %v", user)
	}

	edited.Users[0].BackendUsername = "other"
	f.publish(t, edited)
	if user := f.live.Current().Gateway.Users.Message.GetUsers()[0]; user.BackendPassword != nil || user.GetPassword() != "secret" {
		t.Errorf("with another backend_username: %v", user)
	}
	// Validation knows the stored passwords too.
	validated, err := f.ValidateConfig(t.Context(), &configv1.ValidateConfigRequest{Config: edited})
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(validated.GetProblems(), func(p *configv1.Problem) bool { return p.GetCode() == "no_password" }) {
		t.Errorf("problems %v", validated)
	}
}

func TestRollback(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	changed := split()
	changed.QueryRules = nil
	f.publish(t, changed)
	resp, err := f.RollbackConfig(t.Context(), &configv1.RollbackConfigRequest{Generation: 1, Author: "ann", Note: "it was better"})
	if err != nil || resp.GetGeneration() != 3 {
		t.Fatalf("rollback: %v, error %v", resp, err)
	}
	answer, err := f.RouteStatement(t.Context(), ask(1, "SELECT 1"))
	if err != nil || answer.GetGeneration() != 3 || answer.GetDestinationHostgroup() != 20 {
		t.Errorf("after the rollback: %v, error %v", answer, err)
	}
	list, err := f.ListGenerations(t.Context(), &configv1.ListGenerationsRequest{})
	if err != nil || len(list.GetGenerations()) != 3 || list.GetGenerations()[0].GetRollbackOf() != 1 {
		t.Errorf("generations %v, error %v", list, err)
	}

	_, err = f.RollbackConfig(t.Context(), &configv1.RollbackConfigRequest{Generation: 77})
	wantError(t, err, codes.NotFound, api.ReasonGenerationNotFound)

	broken := split()
	broken.QueryRules[0].MatchDigest = new("(")
	stored, err := translate.Marshal(broken)
	if err != nil {
		t.Fatal(err)
	}
	m := f.store.Put(stored, translate.Format)
	_, err = f.RollbackConfig(t.Context(), &configv1.RollbackConfigRequest{Generation: m.Generation})
	wantError(t, err, codes.FailedPrecondition, api.ReasonGenerationRefused, "generation", "4")
	if problems, ok := detail[*configv1.ConfigProblems](status.Convert(err)); !ok || len(problems.GetProblems()) == 0 {
		t.Errorf("problems %v", problems)
	}
	m = f.store.Put(stored, translate.Format+1)
	_, err = f.RollbackConfig(t.Context(), &configv1.RollbackConfigRequest{Generation: m.Generation})
	wantError(t, err, codes.FailedPrecondition, api.ReasonGenerationRefused, "generation", "5")
	_, err = f.GetConfig(t.Context(), &configv1.GetConfigRequest{})
	wantError(t, err, codes.FailedPrecondition, api.ReasonStoreNewer)

	// What can't be read can be published over, with passwords that this server knows.
	keep := split()
	keep.Users[0].Password = nil
	keep.Users = append(keep.Users, &configv1.User{Username: "new", DefaultHostgroup: 10})
	_, err = f.PublishConfig(t.Context(), &configv1.PublishConfigRequest{Config: keep})
	wantError(t, err, codes.FailedPrecondition, api.ReasonPasswordsUnreadable)
	_, err = f.ValidateConfig(t.Context(), &configv1.ValidateConfigRequest{Config: keep})
	wantError(t, err, codes.FailedPrecondition, api.ReasonPasswordsUnreadable)
	keep.Users = keep.GetUsers()[:1]
	if n := f.publish(t, keep); n != 6 {
		t.Errorf("published as generation %d, want 6", n)
	}
}

func TestStoreErrors(t *testing.T) {
	f := newFixture(t)
	_, err := f.GetConfig(t.Context(), &configv1.GetConfigRequest{})
	wantError(t, err, codes.NotFound, api.ReasonGenerationNotFound)
	f.publish(t, split())
	tests := []struct {
		err    error
		code   codes.Code
		reason string
	}{
		{store.ErrUnavailable, codes.Unavailable, api.ReasonStoreUnavailable},
		{fmt.Errorf("publish: %w: %w", store.ErrUnknownOutcome, store.ErrUnavailable), codes.Unknown, api.ReasonOutcomeUnknown},
		{fmt.Errorf("publish: %w", store.ErrOvertaken), codes.Aborted, api.ReasonPublishOvertaken},
		{store.ErrTooLarge, codes.InvalidArgument, api.ReasonConfigTooLarge},
		{store.ErrNoSpace, codes.ResourceExhausted, api.ReasonStoreFull},
		{store.ErrPermission, codes.FailedPrecondition, api.ReasonStoreRefusesAccess},
		{store.ErrCorrupt, codes.DataLoss, api.ReasonStoreDamaged},
		{store.ErrLayout, codes.FailedPrecondition, api.ReasonStoreNewer},
		{errors.New("something else"), codes.Internal, api.ReasonInternal},
	}
	for _, tt := range tests {
		f.store.Fail(tt.err)
		_, err := f.PublishConfig(t.Context(), &configv1.PublishConfigRequest{Config: split()})
		wantError(t, err, tt.code, tt.reason)
		_, err = f.GetConfig(t.Context(), &configv1.GetConfigRequest{Generation: proto.Uint64(1)})
		wantError(t, err, tt.code, tt.reason)
		_, err = f.ListGenerations(t.Context(), &configv1.ListGenerationsRequest{})
		wantError(t, err, tt.code, tt.reason)
		_, err = f.RollbackConfig(t.Context(), &configv1.RollbackConfigRequest{Generation: 1})
		wantError(t, err, tt.code, tt.reason)
		if answer, err := f.RouteStatement(t.Context(), ask(1, "SELECT 1")); err != nil || answer.GetGeneration() != 1 {
			t.Errorf("decision with %v: %v, error %v", tt.err, answer, err)
		}
	}
}

func TestManyFastRoutes(t *testing.T) {
	f := newFixture(t)
	cfg := split()
	for i := range 100_000 {
		cfg.FastRoutes = append(cfg.FastRoutes, &configv1.FastRoute{
			Username: "app", Schemaname: fmt.Sprintf("tenant_%06d", i), DestinationHostgroup: 10 + 10*int64(i%2),
		})
	}
	cfg.QueryRules = nil
	if _, err := f.live.AtLeast(patience(t), f.publish(t, cfg)); err != nil { // compiling may take longer than a publisher waits
		t.Fatal(err)
	}
	req := ask(1, "SELECT 1")
	req.Session.Schemaname = "tenant_099999"
	answer, err := f.RouteStatement(t.Context(), req)
	if err != nil || answer.GetDestinationHostgroup() != 20 || !answer.GetFastRoute() {
		t.Errorf("fast route: %v, error %v", answer, err)
	}
}
