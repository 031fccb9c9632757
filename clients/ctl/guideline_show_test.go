package ctl_test

import (
	"context"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// withoutStore is a server that can't read its store.
type withoutStore struct{ *configService }

func (withoutStore) GetConfig(context.Context, *configv1.GetConfigRequest) (*configv1.GetConfigResponse, error) {
	return nil, status.Error(codes.Unavailable, "the store can't be reached")
}

// What is in force is shown all the same.
func TestGuidelineShowWithoutStore(t *testing.T) {
	service := &configService{}
	addr := serveConfig(t, withoutStore{service})
	if code, _, errs := run(t, "", "publish", file(t, split+"guideline_binding: {writer_hostgroup: 10, reader_hostgroup: 20}\n"), "--server", addr); code != 0 {
		t.Fatal(errs)
	}
	show := func(wantCode int, out, errs string, args ...string) {
		t.Helper()
		code, gotOut, gotErrs := run(t, "", append([]string{"guideline", "show", "--server", addr}, args...)...)
		if code != wantCode || !strings.Contains(gotOut, out) || !strings.Contains(gotErrs, errs) {
			t.Errorf("%q: code %d, want %d\n%s%s", args, code, wantCode, gotOut, gotErrs)
		}
	}
	const missing = "the stored guidelines are not listed: "
	show(1, "state      current, generation 1\nguideline  none is in force\n", missing)
	// The server comes to hold a guideline by another way.
	cfg := service.generations[0]
	cfg.Guideline = `{"version": "1.1", "name": "g", "destinations": [{"name": "c", "match": "TRUE"}],
		"routes": [{"name": "r", "match": "TRUE", "destinations": [{"classes": ["c"], "strategy": "round-robin", "priority": 0}]}]}`
	if _, err := service.PublishConfig(t.Context(), &configv1.PublishConfigRequest{Config: cfg}); err != nil {
		t.Fatal(err)
	}
	show(0, "state      current, generation 2\nguideline  g (version 1.1)", missing)
	show(0, `"name": "g"`, missing, "-o", "json")
	show(2, "", "the store can't be reached", "g")
}
