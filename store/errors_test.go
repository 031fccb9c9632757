package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		err     error
		want    error
		word    string
		refused bool
	}{
		{rpctypes.ErrNoSpace, ErrNoSpace, "defragment", true},
		{rpctypes.ErrRequestTooLarge, ErrTooLarge, "--max-request-bytes", true},
		{rpctypes.ErrTooManyOps, ErrTooLarge, "--max-txn-ops", true},
		{rpctypes.ErrPermissionDenied, ErrPermission, "role", true},
		{rpctypes.ErrUserEmpty, ErrPermission, "role", true},
		{rpctypes.ErrInvalidAuthToken, ErrPermission, "role", true},
		{rpctypes.ErrTimeout, ErrUnavailable, "timed out", false},
		{rpctypes.ErrLeaderChanged, ErrUnavailable, "leader changed", false},
		{status.Error(codes.Unavailable, "connection refused"), ErrUnavailable, "connection refused", false},
		{context.DeadlineExceeded, ErrUnavailable, "deadline", false},
		{fmt.Errorf("call: %w", context.DeadlineExceeded), context.DeadlineExceeded, "no answer", false},
		{context.Canceled, context.Canceled, "canceled", false},
		{status.Error(codes.Unknown, "odd"), nil, "odd", false},
	} {
		got := explain("read", "/k", c.err)
		if c.want != nil && !errors.Is(got, c.want) || !strings.HasPrefix(got.Error(), "read /k: ") || !strings.Contains(got.Error(), c.word) {
			t.Errorf("%v: %v", c.err, got)
		}
		if refused(c.err) != c.refused {
			t.Errorf("%v: refused is %v", c.err, !c.refused)
		}
	}
	if explain("read", "/k", nil) != nil {
		t.Error("nil became an error")
	}
}
