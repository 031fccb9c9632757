package api_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/api"
)

// twoUsers is split with another user.
func twoUsers() *configv1.Config {
	cfg := split()
	cfg.Users = append(cfg.Users, &configv1.User{Username: "other", Password: new("x"), DefaultHostgroup: 10})
	return cfg
}

// sized asks for a statement of n bytes.
func sized(id uint64, user string, n int) *decisionv1.RouteStatementRequest {
	req := ask(id, "SELECT 1"+strings.Repeat(" ", n-len("SELECT 1")))
	req.Session.Username = user
	return req
}

// Statements of a user whose decisions were slow wait like large ones; shorter ones and those of others don't.
func TestSlowAside(t *testing.T) {
	f := newFixture(t)
	f.publish(t, twoUsers())
	f.decisions.SawSlow("app", 4000)
	release := f.decisions.HoldLarge()
	stream := openStream(t, f)
	send(t, stream, sized(1, "app", 1000), sized(2, "app", 999), sized(3, "other", 4000))
	for _, want := range []uint64{2, 3} {
		if resp := receive(t, stream); resp.GetRequestId() != want || resp.GetError() != nil {
			t.Fatalf("answer %v, want that of %d", resp, want)
		}
	}
	release()
	if resp := receive(t, stream); resp.GetRequestId() != 1 || resp.GetDestinationHostgroup() != 20 {
		t.Errorf("answer %v, want that of 1", resp)
	}
}

// Large statements don't wait for huge ones, nor these for them.
func TestHugeApart(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	for _, tt := range []struct {
		hold       func() func()
		held, free int
	}{
		{f.decisions.HoldHuge, api.HugeText + 1, api.HugeText},
		{f.decisions.HoldLarge, api.HugeText, api.HugeText + 1},
	} {
		release := tt.hold()
		stream := openStream(t, f)
		send(t, stream, sized(1, "app", tt.held), sized(2, "app", tt.free))
		if resp := receive(t, stream); resp.GetRequestId() != 2 || resp.GetError() != nil {
			t.Errorf("%d bytes while those of %d wait: %v", tt.free, tt.held, resp)
		}
		release()
		if resp := receive(t, stream); resp.GetRequestId() != 1 || resp.GetError() != nil {
			t.Errorf("%d bytes: %v", tt.held, resp)
		}
	}
}

// A large statement beyond what may wait is refused; the stream and small ones go on.
func TestTooManyLargeBytes(t *testing.T) {
	f := newFixture(t)
	f.publish(t, twoUsers())
	if err := f.decisions.FillLarge("app"); err != nil {
		t.Fatal(err)
	}
	_, err := f.RouteStatement(patience(t), large(0, "SELECT 1"))
	wantError(t, err, codes.ResourceExhausted, api.ReasonServerBusy, "limit_bytes", "67108864")
	stream := openStream(t, f)
	send(t, stream, large(1, "SELECT 1"), ask(2, "SELECT 1"), sized(3, "other", api.LargeText+1))
	resp := receive(t, stream)
	wantStatus(t, status.FromProto(resp.GetError()), codes.ResourceExhausted, api.ReasonServerBusy)
	for _, want := range []uint64{2, 3} {
		if resp := receive(t, stream); resp.GetRequestId() != want || resp.GetError() != nil {
			t.Errorf("answer %v, want that of %d", resp, want)
		}
	}
	if err := f.decisions.FillLarge("other"); err != nil { // what 3 took is given back
		t.Fatal(err)
	}
	_, err = f.RouteStatement(patience(t), sized(0, "third", api.LargeText+1))
	wantError(t, err, codes.ResourceExhausted, api.ReasonServerBusy, "limit_bytes", "134217728")
}

// A batch counts as a whole.
func TestTooManyBatchBytes(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	batch := &decisionv1.BatchRouteStatementsRequest{}
	for range 3 {
		batch.Requests = append(batch.Requests, sized(0, "app", api.HugeText/2))
	}
	release := f.decisions.HoldLarge()
	ctx, cancel := context.WithCancel(t.Context())
	outcome := make(chan error, 1)
	go func() {
		_, err := f.decisions.BatchRouteStatements(ctx, batch)
		outcome <- err
	}()
	f.decisions.AwaitHugeBytes(3 * api.HugeText / 2)
	cancel()
	if err := <-outcome; status.Code(err) != codes.Canceled {
		t.Errorf("error %v, want code Canceled", err)
	}
	release()
	resp, err := f.BatchRouteStatements(patience(t), batch)
	if err != nil || len(resp.GetResponses()) != 3 || resp.GetResponses()[2].GetDestinationHostgroup() != 20 {
		t.Errorf("%v, error %v", resp, err)
	}
	f.decisions.AwaitHugeBytes(0)
}

// A batch ends when nobody waits for it any more.
func TestBatchCanceled(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := f.decisions.BatchRouteStatements(ctx, &decisionv1.BatchRouteStatementsRequest{
		Requests: []*decisionv1.RouteStatementRequest{ask(1, "SELECT 1"), ask(2, "SELECT 1")},
	})
	if status.Code(err) != codes.Canceled {
		t.Errorf("error %v, want code Canceled", err)
	}
}

// unread is a stream whose caller sends one request and never takes the answer.
type unread struct {
	ctx     context.Context //nolint:containedctx // a stream has one
	request chan *decisionv1.RouteStatementRequest
	sending chan struct{}
}

func (u *unread) Send(*decisionv1.RouteStatementResponse) error {
	close(u.sending)
	<-u.ctx.Done()
	return u.ctx.Err()
}

func (u *unread) Recv() (*decisionv1.RouteStatementRequest, error) {
	select {
	case req := <-u.request:
		return req, nil
	case <-u.ctx.Done():
		return nil, u.ctx.Err()
	}
}
func (u *unread) Context() context.Context   { return u.ctx }
func (*unread) SendHeader(metadata.MD) error { return nil }
func (*unread) SetHeader(metadata.MD) error  { return nil }
func (*unread) SetTrailer(metadata.MD)       {}
func (*unread) SendMsg(any) error            { return nil }
func (*unread) RecvMsg(any) error            { return nil }

// A stream that is not read ends with the server all the same.
func TestUnreadStreamEndsWithServer(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream := &unread{ctx: ctx, request: make(chan *decisionv1.RouteStatementRequest, 1), sending: make(chan struct{})}
	stream.request <- ask(1, "SELECT 1")
	outcome := make(chan error, 1)
	go func() { outcome <- f.decisions.RouteStatements(stream) }()
	<-stream.sending
	f.stop()
	select {
	case err := <-outcome:
		wantError(t, err, codes.Unavailable, api.ReasonServerStopping)
	case <-patience(t).Done():
		t.Error("the stream does not end")
	}
}

// Who lints or validates waits for a place no longer than its caller does.
func TestChecksInTurn(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	lint := func(ctx context.Context) error {
		_, err := f.LintConfig(ctx, &configv1.LintConfigRequest{})
		return err
	}
	validate := func(ctx context.Context) error {
		_, err := f.ValidateConfig(ctx, &configv1.ValidateConfigRequest{Config: split()})
		return err
	}
	for name, tt := range map[string]struct {
		hold        func() func()
		held, other func(context.Context) error
	}{
		"lint":     {f.configs.HoldLinting, lint, validate},
		"validate": {f.configs.HoldValidating, validate, lint},
	} {
		t.Run(name, func(t *testing.T) {
			release := tt.hold()
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if err := tt.held(ctx); status.Code(err) != codes.DeadlineExceeded {
				t.Errorf("while the place is taken: error %v, want code DeadlineExceeded", err)
			}
			if err := tt.other(patience(t)); err != nil {
				t.Errorf("the other meanwhile: %v", err)
			}
			release()
			if err := tt.held(patience(t)); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}
