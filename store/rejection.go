package store

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// maxRejection bounds the stored form of a rejection, in bytes: it is read together with head.
const maxRejection = 256 << 10

// Rejection tells of a publication that was refused because of its content. It is stored as one JSON value that people
// can read, and goes away with the next publication or rollback that succeeds.
type Rejection struct {
	// Author and Note are Meta's.
	Author string `json:"author,omitempty"`
	Note   string `json:"note,omitempty"`
	// Time is the clock of the server that refused, in UTC.
	Time time.Time `json:"time"`
	// Digest is the SHA-256 in hex of the bytes that would have been published.
	Digest string `json:"digest,omitempty"`
	// ProblemCount is how many errors there are. Problems may be fewer, and may have warnings behind the errors.
	ProblemCount int       `json:"problem_count"`
	Problems     []Problem `json:"problems"`
}

// Problem is one reason of a rejection. The store does not look into it.
type Problem struct {
	RuleID   int64  `json:"rule_id,omitempty"`
	Path     string `json:"path,omitempty"`
	Position *int32 `json:"position,omitempty"`
	Code     string `json:"code,omitempty"`
	Severity string `json:"severity,omitempty"`
	Message  string `json:"message"`
}

// Reject stores r in place of any earlier rejection, as long as head is the one in force. If it is not, a publication
// has succeeded since and nothing is stored: the result is a *ConflictError. The generation in force never changes.
// Errors: ErrConflict, ErrTooLarge, ErrNoSpace, ErrPermission, ErrUnavailable.
func (s *Store) Reject(ctx context.Context, head Head, r Rejection) error {
	value, err := encode(r)
	if err != nil {
		return err
	}
	key := s.keys.rejection()
	if len(value) > maxRejection {
		return fmt.Errorf("write %s: %w: %d bytes, the limit is %d", key, ErrTooLarge, len(value), maxRejection)
	}
	if _, err := s.ClusterID(ctx); err != nil { // whoever follows the store must be able to tell it from others
		return fmt.Errorf("write %s: %w", key, err)
	}
	headKey := s.keys.head()
	callCtx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	resp, err := s.kv.Txn(callCtx).
		If(clientv3.Compare(clientv3.ModRevision(headKey), "=", head.modRevision)).
		Then(clientv3.OpPut(key, value)).
		Else(clientv3.OpGet(headKey)).
		Commit()
	if err != nil {
		return explain("write", key, err)
	}
	if resp.Succeeded {
		return nil
	}
	conflict := &ConflictError{Expected: head.Generation}
	if kvs := resp.Responses[0].GetResponseRange().GetKvs(); len(kvs) > 0 {
		var current Head
		if err := decode(headKey, kvs[0].GetValue(), &current); err != nil {
			return err
		}
		conflict.Current = current.Generation
	}
	return conflict
}

// decodeRejection reads the stored form. One that can't be read, as after an edit by hand, must neither hide head nor
// that there is one.
func decodeRejection(key string, value []byte) *Rejection {
	var r Rejection
	if err := decode(key, value, &r); err != nil {
		return &Rejection{ProblemCount: 1, Problems: []Problem{{
			Code: "unreadable", Severity: "error",
			Message: "the record of a refused publication can't be read; publish again, or delete it: " + err.Error(),
		}}}
	}
	return &r
}
