package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/pointsman/pointsman/decision"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/state"
	"github.com/pointsman/pointsman/server/translate"
	"github.com/pointsman/pointsman/store"
)

// Bounds of the record of a refused publication, which every server reads together with head.
const (
	maxRejectedProblems = 100
	maxRejectedText     = 1 << 10  // bytes of one path or message
	maxRejectedBytes    = 64 << 10 // of all paths and messages
)

// recordWait bounds how long a refused publication waits for its record, first to be written and then to be seen.
const recordWait = 2 * time.Second

// record has every server know that a configuration was refused, until a publication succeeds. The publisher is told the
// refusal in any case.
func (s *Config) record(ctx context.Context, head store.Head, cfg *configv1.Config, meta store.Meta, problems decision.Problems) {
	r := rejectionOf(cfg, meta, problems)
	writeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordWait)
	defer cancel()
	err := s.store.Reject(writeCtx, head, r)
	switch {
	case errors.Is(err, store.ErrConflict): // a publication succeeded since the refused one began
		return
	case err != nil:
		s.log.ErrorContext(ctx, "a publication was refused, but that can't be recorded in the store: other servers don't know of it",
			"author", meta.Author, "digest", r.Digest, "error", err)
		return
	}
	// So that the publisher's next call sees the new state.
	waitCtx, cancel := context.WithTimeout(ctx, recordWait)
	defer cancel()
	s.state.Await(waitCtx, func(seen *state.State) bool {
		return seen.Newest > head.Generation || seen.Rejection != nil && !seen.Rejection.Time.Before(r.Time)
	})
}

// rejectionOf makes the record: errors before warnings, as far as there is room; errors alone are counted. The digest is that of the bytes that would
// have been stored; passwords are in it, but nowhere else.
func rejectionOf(cfg *configv1.Config, meta store.Meta, problems decision.Problems) store.Rejection {
	r := store.Rejection{Author: meta.Author, Note: meta.Note, Time: time.Now().UTC(), ProblemCount: errorCount(problems)}
	if stored, err := translate.Marshal(cfg); err == nil {
		sum := sha256.Sum256(stored)
		r.Digest = hex.EncodeToString(sum[:])
	}
	all := translate.ProblemsToProto(problems)
	slices.SortStableFunc(all, func(a, b *configv1.Problem) int { return int(a.GetSeverity()) - int(b.GetSeverity()) })
	size := 0
	for _, p := range all[:min(len(all), maxRejectedProblems)] {
		stored := store.Problem{
			RuleID: p.GetRuleId(), Path: bounded(p.GetPath()), Position: p.Position, Code: p.GetCode(),
			Severity: severityNames[p.GetSeverity()], Message: bounded(p.GetMessage()),
		}
		if size += len(stored.Path) + len(stored.Message); size > maxRejectedBytes {
			break
		}
		r.Problems = append(r.Problems, stored)
	}
	return r
}

// errorCount tells how many problems are reasons to refuse.
func errorCount(problems decision.Problems) (n int) {
	for i := range problems {
		if problems[i].Severity == decision.Error {
			n++
		}
	}
	return n
}

// bounded cuts a text that quotes too much.
func bounded(s string) string {
	if len(s) <= maxRejectedText {
		return s
	}
	return strings.ToValidUTF8(s[:maxRejectedText], "") + "..."
}

var severityNames = map[configv1.Severity]string{
	configv1.Severity_SEVERITY_ERROR:   decision.Error.String(),
	configv1.Severity_SEVERITY_WARNING: decision.Warning.String(),
}

// rejectionToProto gives the API's form of a record; nil for none.
func rejectionToProto(r *store.Rejection) *configv1.Rejection {
	if r == nil {
		return nil
	}
	out := &configv1.Rejection{
		Author: valid(r.Author), Note: valid(r.Note), CreateTime: timestamppb.New(r.Time), Digest: valid(r.Digest),
		ProblemCount: uint32(max(r.ProblemCount, 0)),
	}
	for i := range r.Problems {
		p := &r.Problems[i]
		severity := configv1.Severity_SEVERITY_ERROR
		if p.Severity == decision.Warning.String() {
			severity = configv1.Severity_SEVERITY_WARNING
		}
		out.Problems = append(out.Problems, &configv1.Problem{
			RuleId: p.RuleID, Path: valid(p.Path), Position: p.Position, Code: valid(p.Code), Severity: severity, Message: valid(p.Message),
		})
	}
	return out
}
