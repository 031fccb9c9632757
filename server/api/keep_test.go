package api_test

import (
	"slices"
	"testing"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/translate"
	"github.com/pointsman/pointsman/store"
)

// What can't be had from the store is kept from the generation that runs here; a validation says the same.
func TestKeepsPasswordsOfTheRunningGeneration(t *testing.T) {
	tests := map[string]func(t *testing.T, f *fixture){
		"the store was lost": func(t *testing.T, f *fixture) {
			t.Helper()
			stored, err := translate.Marshal(split())
			if err != nil {
				t.Fatal(err)
			}
			g, err := loaded.Load(7, "digest", translate.Format, stored)
			if err != nil {
				t.Fatal(err)
			}
			f.live.Swap(g.Number, g)
		},
		"damaged": func(t *testing.T, f *fixture) {
			t.Helper()
			f.publish(t, split())
			f.store.FailFetch(store.ErrCorrupt)
			f.store.BeforePublish(func() { f.store.FailFetch(nil) })
			f.store.Put(nil, translate.Format)
		},
		"no message": func(t *testing.T, f *fixture) {
			t.Helper()
			f.publish(t, split())
			f.store.Put([]byte{0xff, 0xff}, translate.Format)
		},
		"newer form": func(t *testing.T, f *fixture) {
			t.Helper()
			f.publish(t, split())
			f.store.Put(nil, translate.Format+1)
		},
	}
	for name, prepare := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			prepare(t, f)
			keep := split()
			keep.Users[0].Password = nil
			validated, err := f.ValidateConfig(t.Context(), &configv1.ValidateConfigRequest{Config: keep})
			if err != nil || slices.ContainsFunc(validated.GetProblems(), noPassword) {
				t.Errorf("validation: %v, error %v", validated, err)
			}
			resp, err := f.PublishConfig(t.Context(), &configv1.PublishConfigRequest{Config: keep})
			if err != nil || slices.ContainsFunc(resp.GetProblems(), noPassword) {
				t.Fatalf("publication: %v, error %v", resp, err)
			}
			g, err := f.live.AtLeast(patience(t), resp.GetGeneration())
			if err != nil {
				t.Fatal(err)
			}
			if got := g.Gateway.Users.Message.GetUsers()[0].GetPassword(); got != "secret" {
				t.Errorf("password %q, want the kept one", got)
			}
		})
	}
}

// A validation looks where a publication does: at what the store has, not at what runs here.
func TestValidateLooksAtTheStore(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	other := split()
	other.Users[0].Username = "other"
	other.QueryRules[0].MatchDigest = new("(") // so it never runs here
	stored, err := translate.Marshal(other)
	if err != nil {
		t.Fatal(err)
	}
	f.store.Put(stored, translate.Format)
	keep := split()
	keep.Users[0].Username, keep.Users[0].Password = "other", nil
	for _, failure := range []error{nil, store.ErrUnavailable} {
		f.store.Fail(failure)
		validated, err := f.ValidateConfig(t.Context(), &configv1.ValidateConfigRequest{Config: keep})
		if err != nil || slices.ContainsFunc(validated.GetProblems(), noPassword) != (failure != nil) {
			t.Errorf("store says %v: %v, error %v", failure, validated, err)
		}
	}
}

func noPassword(p *configv1.Problem) bool { return p.GetCode() == "no_password" }
