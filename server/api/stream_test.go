package api_test

import (
	"errors"
	"io"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/api"
)

type routeStream = grpc.BidiStreamingClient[decisionv1.RouteStatementRequest, decisionv1.RouteStatementResponse]

func openStream(t *testing.T, f *fixture) routeStream {
	t.Helper()
	stream, err := f.RouteStatements(patience(t))
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

func send(t *testing.T, stream routeStream, requests ...*decisionv1.RouteStatementRequest) {
	t.Helper()
	for _, req := range requests {
		if err := stream.Send(req); err != nil {
			t.Fatal(err)
		}
	}
}

func receive(t *testing.T, stream routeStream) *decisionv1.RouteStatementResponse {
	t.Helper()
	resp, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func TestStreamAnswersAll(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	stream := openStream(t, f)
	const n = 5000 // far more than may be in flight
	sent := make(chan error, 1)
	go func() {
		for i := range uint64(n) {
			sql := "SELECT 1"
			if i%2 == 1 {
				sql = "DELETE FROM t"
			}
			if err := stream.Send(ask(i+1, sql)); err != nil {
				sent <- err
				return
			}
		}
		sent <- stream.CloseSend()
	}()
	for i := range uint64(n) {
		resp := receive(t, stream)
		want := int32(20)
		if i%2 == 1 {
			want = 10
		}
		if resp.GetRequestId() != i+1 || resp.GetDestinationHostgroup() != want || resp.GetError() != nil {
			t.Fatalf("answer %d: %v", i+1, resp)
		}
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last answer: %v, want EOF", err)
	}
}

func TestStreamBadRequests(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	stream := openStream(t, f)
	nobody := ask(5, "SELECT 1")
	nobody.Session.Username = "nobody"
	for _, bad := range []struct {
		req   *decisionv1.RouteStatementRequest
		field string
	}{
		{ask(0, "SELECT 1"), "request_id"},
		{&decisionv1.RouteStatementRequest{RequestId: 4}, "session"},
		{nobody, "session.username"},
	} {
		send(t, stream, bad.req)
		resp := receive(t, stream)
		if resp.GetRequestId() != bad.req.GetRequestId() {
			t.Errorf("answer to request %d has id %d", bad.req.GetRequestId(), resp.GetRequestId())
		}
		wantStatus(t, status.FromProto(resp.GetError()), codes.InvalidArgument, api.ReasonInvalidField, "field", bad.field)
	}
	send(t, stream, ask(6, "SELECT 1"))
	if resp := receive(t, stream); resp.GetRequestId() != 6 || resp.GetDestinationHostgroup() != 20 {
		t.Errorf("a good request after bad ones: %v", resp)
	}
}

func TestStreamWithoutGeneration(t *testing.T) {
	f := newFixture(t)
	stream := openStream(t, f)
	send(t, stream, ask(1, "SELECT 1"))
	wantStatus(t, status.FromProto(receive(t, stream).GetError()), codes.Unavailable, api.ReasonNoGeneration)
	f.publish(t, split())
	send(t, stream, ask(2, "SELECT 1"))
	if resp := receive(t, stream); resp.GetRequestId() != 2 || resp.GetGeneration() != 1 {
		t.Errorf("after a publication: %v", resp)
	}
}

// One that waits for its generation must not hold up the others, and its id is in flight meanwhile.
func TestStreamWaitsAside(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	stream := openStream(t, f)
	waiting := ask(1, "SELECT 1")
	waiting.MinGeneration = 2
	send(t, stream, waiting, ask(2, "SELECT 1"), ask(1, "SELECT 1"))
	answers := make(map[uint64][]*decisionv1.RouteStatementResponse)
	var order []uint64
	for range 3 {
		resp := receive(t, stream)
		answers[resp.GetRequestId()] = append(answers[resp.GetRequestId()], resp)
		order = append(order, resp.GetRequestId())
	}
	if len(answers[2]) != 1 || answers[2][0].GetDestinationHostgroup() != 20 {
		t.Errorf("the request beside: %v", answers[2])
	}
	if order[0] != 2 || len(answers[1]) != 2 {
		t.Fatalf("answers came for requests %v, want 2, 1 and 1", order)
	}
	wantStatus(t, status.FromProto(answers[1][0].GetError()), codes.InvalidArgument, api.ReasonInvalidField, "field", "request_id")
	wantStatus(t, status.FromProto(answers[1][1].GetError()), codes.FailedPrecondition, api.ReasonGenerationNotReached)

	send(t, stream, ask(1, "SELECT 1"))
	if resp := receive(t, stream); resp.GetError() != nil {
		t.Errorf("an id that is used again after its answer: %v", resp)
	}
}

// With a thousand requests waiting the server reads no more, and loses none.
func TestStreamBackPressure(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	stream := openStream(t, f)
	const n = 3000
	sent := make(chan error, 1)
	go func() {
		for i := range uint64(n) {
			req := ask(i+1, "SELECT 1")
			req.MinGeneration = 2
			if err := stream.Send(req); err != nil {
				sent <- err
				return
			}
		}
		sent <- stream.CloseSend()
	}()
	seen := make(map[uint64]bool)
	for range n {
		resp := receive(t, stream)
		if seen[resp.GetRequestId()] {
			t.Fatalf("two answers to request %d", resp.GetRequestId())
		}
		seen[resp.GetRequestId()] = true
		wantStatus(t, status.FromProto(resp.GetError()), codes.FailedPrecondition, api.ReasonGenerationNotReached)
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last answer: %v, want EOF", err)
	}
}

func TestStreamEndsWithServer(t *testing.T) {
	f := newFixture(t)
	f.publish(t, split())
	stream := openStream(t, f)
	send(t, stream, ask(1, "SELECT 1"))
	receive(t, stream)
	f.stop()
	_, err := stream.Recv()
	wantError(t, err, codes.Unavailable, api.ReasonServerStopping)
}
