package api

import (
	"context"
	"runtime"

	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
)

const (
	// largeText is how many bytes a statement may have before it counts as large. The work that a statement may cost
	// grows with its length: made for the rules, one of 1 MB can take a good part of a second, a small one some
	// milliseconds.
	largeText = 16 << 10

	// largeAhead is how many bytes of large statements a stream may have unanswered before the server stops reading it.
	largeAhead = 16 << 20
)

// largePlaces is how many large statements are decided at a time. The other processors are kept for small ones.
func largePlaces() int { return max(runtime.GOMAXPROCS(0)/2, 1) }

// textLength is how much there is to search in a request, in bytes.
func textLength(req *decisionv1.RouteStatementRequest) int {
	s := req.GetStatement()
	return max(len(s.GetText()), len(s.GetRawText()), len(s.GetDigestText()), len(s.GetRawDigestText()))
}

func isLarge(req *decisionv1.RouteStatementRequest) bool { return textLength(req) > largeText }

// enter waits for a place for a large statement; small ones need none. leave must follow if there is no error, which is
// the context's.
func (s *Decision) enter(ctx context.Context, req *decisionv1.RouteStatementRequest) (leave func(), err error) {
	if !isLarge(req) {
		return func() {}, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case s.large <- struct{}{}:
		return func() { <-s.large }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
