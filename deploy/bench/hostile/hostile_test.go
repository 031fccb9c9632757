package hostile

import (
	"testing"
	"time"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/server/translate"
)

// The hostile configuration is valid, and an ordinary statement finds its way through it.
func TestConfig(t *testing.T) {
	g, problems := decision.Compile(1, translate.ConfigFromProto(config()))
	if g == nil {
		t.Fatalf("%d problems, the first one: %+v", len(problems), problems[0])
	}
	if n := len(g.Backtracking()); n != 20 {
		t.Errorf("%d rules need the backtracking engine, want 20", n)
	}
	var answer decision.Answer
	err := g.Route(&decision.Question{
		Session: decision.Session{
			Username: username, NextQueryFlagIn: decision.None, TransactionHostgroup: decision.None, LockedHostgroup: decision.None,
			KeptRoute: decision.None,
		},
		Statement: decision.Statement{Text: []byte("SELECT name FROM products WHERE id = 5"), HasText: true},
	}, &answer)
	if err != nil || answer.DestinationHostgroup != readers {
		t.Errorf("hostgroup %d, error %v, want %d", answer.DestinationHostgroup, err, readers)
	}
}

func TestStatements(t *testing.T) {
	for _, size := range []int{1 << 10, 1 << 20} {
		seen := map[string]bool{}
		for _, text := range statements(size) {
			seen[string(text)] = true
			if len(text) != size {
				t.Errorf("a statement of %d bytes, want %d", len(text), size)
			}
		}
		if len(seen) < 5 {
			t.Errorf("%d distinct statements of %d bytes", len(seen), size)
		}
	}
}

func TestQuantile(t *testing.T) {
	var list []time.Duration
	for i := range 100 {
		list = append(list, time.Duration(100-i))
	}
	for _, tt := range []struct {
		share float64
		want  time.Duration
	}{{0, 1}, {0.5, 51}, {0.99, 100}, {1, 100}} {
		if got := quantile(list, tt.share); got != tt.want {
			t.Errorf("quantile %v is %d, want %d", tt.share, got, tt.want)
		}
	}
	if got := quantile(nil, 0.5); got != 0 {
		t.Errorf("quantile of nothing is %d", got)
	}
}
