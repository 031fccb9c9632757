package rules

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
)

// exactSet makes n rules without expressions: 10 kinds of predicates, 500 users, 200 schemas, 6,000 digests, wildcard
// addresses, 10 chains; and questions of resolved sessions.
func exactSet(n int) (*Set, []Question) {
	r := random{rand.New(rand.NewPCG(1, 2))}
	user := func() string { return fmt.Sprintf("app_user_%d", r.IntN(500)) }
	schema := func() string { return fmt.Sprintf("shop_schema_%d", r.IntN(200)) }
	digest := func() uint64 { return (1 + r.Uint64N(6000)) * 0x9e3779b97f4a7c15 }
	list := make([]Rule, n)
	for i := range list {
		l := rule(uint32(i + 1))
		l.FlagIn = r.Int32N(10)
		kind := r.IntN(10)
		if kind < 5 {
			l.Username = user()
		}
		if kind%2 == 0 || kind == 9 {
			l.Schemaname = schema()
		}
		if kind != 0 && kind != 4 && kind != 9 {
			l.HasDigest, l.Digest = true, digest()
		}
		if kind == 3 || kind == 8 || kind == 5 {
			l.ClientAddr, _ = ParseClientAddr(fmt.Sprintf("10.%d.%%", r.IntN(100)))
		}
		if kind == 9 {
			l.ProxyPort = 6033
		}
		l.Destination, l.Apply = r.Int32N(20), true
		list[i] = l
	}
	s := NewSet(list, true)
	questions := make([]Question, 1024)
	for i := range questions {
		questions[i] = Question{
			Session: s.Resolve(&Attributes{
				Username: user(), Schemaname: schema(), ClientAddr: fmt.Sprintf("10.%d.1.2", r.IntN(100)), ProxyPort: 6033,
			}),
			FlagIn: r.Int32N(10), Digest: digest(),
		}
	}
	return s, questions
}

func BenchmarkWalkExact(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s, questions := exactSet(n)
			var w Walk
			hits, i := 0, 0
			b.ReportAllocs()
			for b.Loop() {
				s.Walk(&questions[i%len(questions)], &w)
				hits += len(w.Matched)
				i++
			}
			b.ReportMetric(float64(hits)/float64(i), "hits/op")
		})
	}
}
