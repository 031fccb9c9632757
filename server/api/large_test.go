package api_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/api"
)

// large asks for a statement that counts as large.
func large(id uint64, sql string) *decisionv1.RouteStatementRequest {
	return ask(id, sql+strings.Repeat(" ", api.LargeText))
}

// While large statements can't be decided, small ones of the same stream are, and all get their answers in the end.
func TestLargeAside(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	release := f.decisions.HoldLarge()
	stream := openStream(t, f)
	send(t, stream, large(1, "SELECT 1"), large(2, "DELETE FROM t"), ask(3, "SELECT 1"), ask(1, "SELECT 1"), ask(4, "DELETE FROM t"))
	for _, want := range []struct {
		id        uint64
		hostgroup int32
	}{{3, 20}, {1, 0}, {4, 10}} {
		resp := receive(t, stream)
		if resp.GetRequestId() != want.id || resp.GetDestinationHostgroup() != want.hostgroup {
			t.Fatalf("answer %v, want that of %d", resp, want.id)
		}
		if want.id == 1 { // it is in flight
			wantStatus(t, status.FromProto(resp.GetError()), codes.InvalidArgument, api.ReasonInvalidField, "field", "request_id")
		}
	}
	release()
	got := map[uint64]int32{}
	for range 2 {
		resp := receive(t, stream)
		got[resp.GetRequestId()] = resp.GetDestinationHostgroup()
	}
	if got[1] != 20 || got[2] != 10 {
		t.Errorf("large statements go to %v, want 1 to 20 and 2 to 10", got)
	}
	send(t, stream, ask(1, "SELECT 1"))
	if resp := receive(t, stream); resp.GetError() != nil {
		t.Errorf("an id that is used again after its answer: %v", resp)
	}
}

// Many megabytes of large statements are all answered, also when the caller has closed its side.
func TestLargeBackPressure(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	release := f.decisions.HoldLarge()
	stream := openStream(t, f)
	const n, size = 40, 1<<20 - 8
	sent := make(chan error, 1)
	go func() {
		for i := range uint64(n) {
			if err := stream.Send(ask(i+1, "SELECT 1"+strings.Repeat(" ", size))); err != nil {
				sent <- err
				return
			}
		}
		sent <- stream.CloseSend()
	}()
	release()
	seen := map[uint64]bool{}
	for range n {
		resp := receive(t, stream)
		if seen[resp.GetRequestId()] || resp.GetDestinationHostgroup() != 20 {
			t.Fatalf("answer %v", resp)
		}
		seen[resp.GetRequestId()] = true
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last answer: %v, want EOF", err)
	}
}

// A large statement waits for its turn no longer than its caller does.
func TestLargeDeadline(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	release := f.decisions.HoldLarge()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := f.decisions.RouteStatement(ctx, large(0, "SELECT 1")); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("error %v, want code DeadlineExceeded", err)
	}
	if resp, err := f.RouteStatement(patience(t), ask(0, "SELECT 1")); err != nil || resp.GetDestinationHostgroup() != 20 {
		t.Errorf("a small statement meanwhile: %v, error %v", resp, err)
	}
	release()
	if resp, err := f.RouteStatement(patience(t), large(0, "SELECT 1")); err != nil || resp.GetDestinationHostgroup() != 20 {
		t.Errorf("a large statement: %v, error %v", resp, err)
	}
}

// Large statements of a stream that breaks don't wait any longer: the package checks for goroutines at the end.
func TestLargeBrokenStream(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	f.decisions.HoldLarge() // for good
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := f.RouteStatements(ctx)
	if err != nil {
		t.Fatal(err)
	}
	send(t, stream, large(1, "SELECT 1"), large(2, "SELECT 1"), ask(3, "SELECT 1"))
	if resp := receive(t, stream); resp.GetRequestId() != 3 {
		t.Errorf("answer %v, want that of 3", resp)
	}
	cancel()
	if _, err := stream.Recv(); status.Code(err) != codes.Canceled {
		t.Errorf("error %v, want code Canceled", err)
	}
}
