package api

import (
	"context"
	"time"

	"github.com/pointsman/pointsman/decision"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/translate"
)

// maxExplained is the longest text that is explained. Explaining takes far longer than deciding.
const maxExplained = 1 << 20

// ExplainStatement decides one statement and tells every step. One is explained at a time, so that those who explain
// leave the processors to those who decide.
func (s *Decision) ExplainStatement(ctx context.Context, req *decisionv1.RouteStatementRequest) (*decisionv1.ExplainStatementResponse, error) {
	g, err := s.await(ctx, req.GetMinGeneration())
	if err != nil {
		return nil, toStatus(err)
	}
	select {
	case s.explaining <- struct{}{}:
		defer func() { <-s.explaining }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return nil, toStatus(ctx.Err())
	}
	resp, err := s.explain(g, req)
	if err != nil {
		return nil, toStatus(err)
	}
	return resp, nil
}

func (s *Decision) explain(g *loaded.Generation, req *decisionv1.RouteStatementRequest) (*decisionv1.ExplainStatementResponse, error) {
	st := req.GetStatement()
	if n := max(len(st.GetText()), len(st.GetRawText()), len(st.GetDigestText()), len(st.GetRawDigestText())); n > maxExplained {
		return nil, badField("statement", "%d bytes are too many to explain, the limit is %d", n, maxExplained)
	}
	var q decision.Question
	if err := translate.QuestionFromProto(req, &q); err != nil {
		return nil, err
	}
	s.complete(g, req, &q, time.Now())
	x, err := g.Core.Explain(&q)
	if err != nil {
		return nil, err
	}
	resp := translate.ExplanationToProto(x)
	resp.Answer.RequestId = req.GetRequestId()
	resp.Answer.SessionAttributes = g.Core.SessionAttributes()
	return resp, nil
}
