package core

import (
	"fmt"
	"runtime"
	"time"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/digest"
	"github.com/pointsman/pointsman/deploy/bench"
)

// routed is what the rows of whole decisions have in common.
type routed struct {
	generation *decision.Generation
	options    digest.Options
	texts      [][]byte
	sessions   []decision.Session // text i comes from session i modulo their number
}

const (
	routedTexts    = 2048
	routedSessions = 256
)

func newRouted() (*routed, error) {
	d := &routed{options: digest.DefaultOptions(), texts: statements(random(41), routedTexts, 8)}
	var buffer digest.Buffer
	var known []uint64
	for _, text := range d.texts {
		known = append(known, digest.Compute(&buffer, text, &d.options).Hash)
	}
	r := random(42)
	for range routedSessions {
		d.sessions = append(d.sessions, session(r))
	}
	var err error
	d.generation, err = compile(configuration(exactRules, regexRules, known))
	return d, err
}

func (d *routed) session(i int) *decision.Session { return &d.sessions[i%len(d.sessions)] }

// routeUncached decides every statement anew. Where they go must vary, else the row would say little.
func (s *suite) routeUncached() error {
	d, err := newRouted()
	if err != nil {
		return err
	}
	var question decision.Question
	var answer decision.Answer
	route := func(i int) error {
		question.Session = *d.session(i)
		question.Statement = decision.Statement{Text: d.texts[i], HasText: true}
		question.Seed = uint64(i)
		return d.generation.Route(&question, &answer)
	}
	reasons := map[decision.Reason]int{}
	exact := 0
	for i := range d.texts {
		if err := route(i); err != nil {
			return err
		}
		reasons[answer.Reason]++
		if len(answer.MatchedRules) > 0 && answer.MatchedRules[0] <= exactRules {
			exact++
		}
	}
	op := bench.Op{Per: len(d.texts), Run: func() {
		for i := range d.texts {
			if err := route(i); err != nil {
				panic(err)
			}
			sink += uint64(answer.DestinationHostgroup)
		}
	}}
	m := s.meter.Measure(digests(d.texts, &d.options), op)
	byRule := reasons[decision.ReasonRule]
	s.report.Add("route_uncached", bench.Result{
		Value: m[1].Median(), Ratio: m[1].Over(m[0]).Median(), Allocs: s.allocs(op),
		Note: fmt.Sprintf("P %.0f ns, %.0f B; by exact rules %d, expressions %d, fast routes %d of %d",
			m[0].Median(), meanLength(d.texts), exact, byRule-exact, reasons[decision.ReasonFastRoute], len(d.texts)),
	})
	if reasons[decision.ReasonFastRoute] == 0 || exact == 0 || byRule == exact {
		return fmt.Errorf("route: the statements don't reach every kind of rule: %v", reasons)
	}
	runtime.KeepAlive(d)
	return nil
}

// compileLarge is for information: how long a large configuration takes, and what it holds.
func (s *suite) compileLarge() error {
	cfg := configuration(exactRules-regexRules, regexRules, nil)
	cfg.FastRoutes = make([]decision.FastRoute, 0, 1_000_000)
	for u := range 1000 {
		for v := range 1000 {
			cfg.FastRoutes = append(cfg.FastRoutes, decision.FastRoute{
				Username: userName(u), Schemaname: schemaName(v), DestinationHostgroup: int64(u % hostgroups),
			})
		}
	}
	var err error
	var cpu, wall time.Duration
	g, heap := bench.Heap(func() *decision.Generation {
		var g *decision.Generation
		start := time.Now()
		cpu = bench.CPU(func() { g, err = compile(cfg) })
		wall = time.Since(start)
		return g
	})
	runtime.KeepAlive(g)
	s.report.Info("compile", "10,000 rules (1,000 with expressions) and 1,000,000 fast routes: %.2f s of CPU, %.2f s, %.0f MB of heap",
		cpu.Seconds(), wall.Seconds(), float64(heap)/1e6)
	return err
}
