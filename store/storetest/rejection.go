package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pointsman/pointsman/store"
)

func rejection(note string) store.Rejection {
	return store.Rejection{
		Author: "ann", Note: note, Time: time.Now().UTC(), Digest: "d", ProblemCount: 7,
		Problems: []store.Problem{
			{RuleID: 3, Path: "query_rules[0].match_digest", Position: new(int32(4)), Code: "regex_syntax", Severity: "error", Message: "it's <open>"},
			{Message: "another"},
		},
	}
}

// head must be readable.
func (f *fixture) head(t *testing.T) store.Head {
	t.Helper()
	h, err := f.store.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (f *fixture) reject(t *testing.T, head store.Head, r store.Rejection) {
	t.Helper()
	if err := f.store.Reject(t.Context(), head, r); err != nil {
		t.Fatal(err)
	}
}

func testReject(t *testing.T, f *fixture) {
	// Even before the first publication.
	first := rejection("first")
	f.reject(t, f.head(t), first)
	h := f.head(t)
	if diff := cmp.Diff(&first, h.Rejection); diff != "" || h.Generation != 0 || h.StoreID == "" {
		t.Error(h, diff)
	}

	// A publication takes it back, a rejection leaves the generation alone, the last one counts.
	for _, publish := range []func(){
		func() { f.publish(t, "a") },
		func() {
			if _, err := f.store.Rollback(t.Context(), 1, store.Meta{}, nil); err != nil {
				t.Fatal(err)
			}
		},
	} {
		before := f.head(t)
		publish()
		after := f.head(t)
		if before.Rejection == nil || after.Rejection != nil || f.count(t, "/rejection") != 0 {
			t.Error(before, after)
		}
		for _, note := range []string{"second", "third"} {
			r := rejection(note)
			f.reject(t, after, r)
			h := f.head(t)
			if diff := cmp.Diff(&r, h.Rejection); diff != "" {
				t.Error(diff)
			}
			h.Rejection = nil
			if diff := cmp.Diff(after, h, cmp.AllowUnexported(store.Head{})); diff != "" {
				t.Error(diff)
			}
		}
	}

	// What etcdctl shows.
	resp, err := f.etcd.Get(t.Context(), f.prefix+"/rejection")
	if err != nil || len(resp.Kvs) != 1 {
		t.Fatal(resp, err)
	}
	var shown map[string]any
	if err := json.Unmarshal(resp.Kvs[0].GetValue(), &shown); err != nil || shown["author"] != "ann" || shown["problem_count"] != 7.0 {
		t.Error(shown, err)
	}
}

// testRejectOvertaken has a publication succeed between the refusal and its record.
func testRejectOvertaken(t *testing.T, f *fixture) {
	for n := range uint64(2) {
		before := f.head(t)
		m := f.publish(t, strconv.FormatUint(n, 10))
		err := f.store.Reject(t.Context(), before, rejection("late"))
		var conflict *store.ConflictError
		if !errors.As(err, &conflict) || conflict.Expected != before.Generation || conflict.Current != m.Generation {
			t.Error(err)
		}
		if h := f.head(t); h.Rejection != nil {
			t.Error(h.Rejection)
		}
	}
}

func testRejectLimits(t *testing.T, f *fixture) {
	r := rejection(strings.Repeat("x", 257<<10))
	if err := f.store.Reject(t.Context(), f.head(t), r); !errors.Is(err, store.ErrTooLarge) || !strings.Contains(err.Error(), "/rejection") {
		t.Error(err)
	}
	if n := f.count(t, ""); n != 0 {
		t.Errorf("%d keys were written", n)
	}

	// An edit by hand hides neither head nor that there is a rejection.
	f.publish(t, "a")
	if _, err := f.etcd.Put(t.Context(), f.prefix+"/rejection", "{"); err != nil {
		t.Fatal(err)
	}
	h := f.head(t)
	if h.Generation != 1 || h.Rejection == nil || h.Rejection.ProblemCount != 1 ||
		!strings.Contains(h.Rejection.Problems[0].Message, f.prefix+"/rejection") {
		t.Errorf("%+v", h)
	}
	f.publish(t, "b")
	if h := f.head(t); h.Rejection != nil {
		t.Error(h.Rejection)
	}
}

// testFollowRejection has readers learn of rejections although head does not move.
func testFollowRejection(t *testing.T, f *fixture) {
	for name, interval := range map[string]time.Duration{
		"told by the watch": time.Hour, // so nothing else can tell
		"told by reading":   20 * time.Millisecond,
	} {
		var mu sync.Mutex
		var seen store.Head
		var offered int
		followed(t, f.store, store.FollowOptions{
			Interval: interval,
			OnRead: func(h store.Head) {
				mu.Lock()
				defer mu.Unlock()
				seen = h
			},
			OnHead: func(ctx context.Context, h store.Head) error {
				mu.Lock()
				defer mu.Unlock()
				if seen.Generation != h.Generation {
					t.Errorf("%s: generation %d was offered after %d was read", name, h.Generation, seen.Generation)
				}
				offered++
				return ctx.Err()
			},
		})
		offers := func() int {
			mu.Lock()
			defer mu.Unlock()
			return offered
		}
		is := func(what string, ok func() bool) {
			t.Helper()
			Eventually(t, name+": "+what, func() bool {
				mu.Lock()
				defer mu.Unlock()
				return ok()
			})
		}
		m := f.publish(t, name)
		is("the generation", func() bool { return seen.Generation == m.Generation && offered > 0 })
		before := offers()
		for _, note := range []string{"one", "two"} {
			f.reject(t, f.head(t), rejection(note))
			is("the rejection", func() bool { return seen.Rejection != nil && seen.Rejection.Note == note })
		}
		if offers() != before {
			t.Errorf("%s: a rejection offers a generation", name)
		}
		f.publish(t, name+", mended")
		is("the end of the rejection", func() bool { return seen.Rejection == nil && offered > before })
	}
}
