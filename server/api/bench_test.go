package api_test

import (
	"testing"

	"github.com/pointsman/pointsman/decision/live"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/translate"
)

// BenchmarkHandler is a decision with its translation, without gRPC.
func BenchmarkHandler(b *testing.B) {
	stored, err := translate.Marshal(split())
	if err != nil {
		b.Fatal(err)
	}
	g, err := loaded.Load(1, "", translate.Format, stored)
	if err != nil {
		b.Fatal(err)
	}
	holder := &live.Holder[loaded.Generation]{}
	holder.Swap(1, g)
	service := newDecision(holder)
	req := ask(1, "SELECT * FROM t WHERE id = 5")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := service.RouteStatement(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStream is a decision over a stream that is kept full.
func BenchmarkStream(b *testing.B) {
	f := newFixture(b)
	f.publish(b, split())
	stream, err := f.RouteStatements(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	failed := make(chan error, 1)
	req := ask(1, "SELECT * FROM t WHERE id = 5")
	n := b.N
	b.ReportAllocs()
	b.ResetTimer()
	go func() {
		for range n {
			if err := stream.Send(req); err != nil {
				failed <- err
				return
			}
		}
		failed <- stream.CloseSend()
	}()
	for range n {
		var resp *decisionv1.RouteStatementResponse
		if resp, err = stream.Recv(); err != nil || resp.GetDestinationHostgroup() != 20 {
			b.Fatal(resp, err)
		}
	}
	if err := <-failed; err != nil {
		b.Fatal(err)
	}
}
