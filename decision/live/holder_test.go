package live_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pointsman/pointsman/decision/live"
)

func TestSwap(t *testing.T) {
	type swap struct {
		n    uint64
		want bool
	}
	for _, tt := range []struct {
		name  string
		swaps []swap
		final uint64
	}{
		{"none", nil, 0},
		{"number 0", []swap{{0, false}}, 0},
		{"first", []swap{{7, true}}, 7},
		{"the same again", []swap{{7, true}, {7, false}}, 7},
		{"lower", []swap{{7, true}, {6, false}}, 7},
		{"higher, with a gap", []swap{{7, true}, {9, true}, {8, false}, {1 << 63, true}}, 1 << 63},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var h live.Holder[string]
			for _, s := range tt.swaps {
				text := strconv.FormatUint(s.n, 10)
				if got := h.Swap(s.n, &text); got != s.want {
					t.Errorf("Swap(%d) = %v, want %v", s.n, got, s.want)
				}
			}
			if h.Generation() != tt.final {
				t.Errorf("generation %d, want %d", h.Generation(), tt.final)
			}
			switch g := h.Current(); {
			case tt.final == 0 && g != nil:
				t.Errorf("%q in force, want none", *g)
			case tt.final != 0 && (g == nil || *g != strconv.FormatUint(tt.final, 10)):
				t.Errorf("%v in force, want %d", g, tt.final)
			}
		})
	}
}

func TestAtLeast(t *testing.T) {
	for _, tt := range []struct {
		name string
		want uint64
		at   time.Duration // when the answer comes; the generations 1, 3, 5 come after 1, 2, 3 s
		got  int
	}{
		{"any", 0, time.Second, 1},
		{"first", 1, time.Second, 1},
		{"in a gap", 2, 2 * time.Second, 3},
		{"last", 5, 3 * time.Second, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var h live.Holder[int]
				start := time.Now()
				for i := range 3 {
					time.AfterFunc(time.Duration(i+1)*time.Second, func() {
						n := 2*i + 1
						h.Swap(uint64(n), &n)
					})
				}
				g, err := h.AtLeast(t.Context(), tt.want)
				if err != nil || *g != tt.got || time.Since(start) != tt.at {
					t.Errorf("%v, %v after %v, want %d after %v", g, err, time.Since(start), tt.got, tt.at)
				}
				<-time.After(time.Minute)
			})
		})
	}
}

func TestAtLeastAtOnce(t *testing.T) {
	var h live.Holder[int]
	three := 3
	h.Swap(3, &three)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // What is in force needs no waiting.
	for n := range uint64(4) {
		if g, err := h.AtLeast(ctx, n); err != nil || g != &three {
			t.Errorf("AtLeast(%d) = %v, %v", n, g, err)
		}
	}
}

func TestNotReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h live.Holder[int]
		three := 3
		time.AfterFunc(time.Millisecond, func() { h.Swap(3, &three) })
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		g, err := h.AtLeast(ctx, 4)
		if g != nil || !errors.Is(err, live.ErrNotReached) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("%v, %v, want ErrNotReached by a deadline", g, err)
		}
		if text := err.Error(); !strings.Contains(text, "generation 4") || !strings.Contains(text, "3 is in force") {
			t.Errorf("%q does not have both numbers", text)
		}
	})
}

func TestChanged(t *testing.T) {
	var h live.Holder[int]
	one := 1
	first := h.Changed()
	if h.Changed() != first {
		t.Error("a second channel before the swap")
	}
	h.Swap(1, &one)
	select {
	case <-first:
	default:
		t.Error("the channel is open after the swap")
	}
	second := h.Changed()
	h.Swap(1, &one)
	select {
	case <-second:
		t.Error("the channel is closed though nothing changed")
	default:
	}
}

// TestConcurrent lets readers, waiters and two writers at one holder: numbers only grow, and a generation is never
// seen with another's number.
func TestConcurrent(t *testing.T) {
	const last = 2000
	var (
		h  live.Holder[uint64]
		wg sync.WaitGroup
	)
	for w := range uint64(2) {
		wg.Go(func() {
			for n := w + 1; n <= last; n++ {
				h.Swap(n, &n)
			}
		})
		wg.Go(func() {
			var seen uint64
			for seen < last {
				changed := h.Changed()
				if g := h.Current(); g != nil {
					if *g < seen {
						t.Errorf("generation %d after %d", *g, seen)
						return
					}
					seen = *g
				}
				if seen < last {
					<-changed
				}
			}
		})
		wg.Go(func() {
			for n := w; n <= last; n += 7 {
				if g, err := h.AtLeast(t.Context(), n); err != nil || *g < n {
					t.Errorf("AtLeast(%d) = %v, %v", n, g, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestCurrentAllocs(t *testing.T) {
	var h live.Holder[int]
	one := 1
	h.Swap(1, &one)
	if n := testing.AllocsPerRun(100, func() {
		if h.Current() == nil || h.Generation() != 1 {
			t.Fatal("nothing in force")
		}
	}); n != 0 {
		t.Errorf("%g allocations, want 0", n)
	}
}
