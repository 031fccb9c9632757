package resolve_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/guideline"
	"github.com/pointsman/pointsman/decision/live"
	"github.com/pointsman/pointsman/server/loaded"
	"github.com/pointsman/pointsman/server/observed"
	"github.com/pointsman/pointsman/server/resolve"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// names are the world's names, and what was asked for.
type names struct {
	mu     sync.Mutex
	known  map[string][]string
	silent bool // nothing is answered
	asked  int
}

func (n *names) set(known map[string][]string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.known = known
}

func (n *names) look(ctx context.Context, host guideline.Host) ([]netip.Addr, error) {
	n.mu.Lock()
	n.asked++
	texts, silent := n.known[host.Name], n.silent
	n.mu.Unlock()
	if silent {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	var out []netip.Addr
	for _, text := range texts {
		if a := netip.MustParseAddr(text); a.Unmap().Is6() == host.V6 {
			out = append(out, a)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no such host")
	}
	return out, nil
}

// generation has a guideline that resolves names.
func generation(t *testing.T, number uint64, names ...string) *loaded.Generation {
	t.Helper()
	var match strings.Builder
	match.WriteString("TRUE")
	for _, name := range names {
		match.WriteString(" AND $.session.sourceIP <> RESOLVE_V4(" + name + ")")
	}
	core, problems := decision.Compile(number, &decision.Config{
		Servers: []decision.Server{{HostgroupID: 1, Hostname: "db"}},
		Guideline: `{"version": "1.0", "destinations": [{"name": "d", "match": "TRUE"}], "routes": [{"name": "r", "match": "` + match.String() +
			` OR $.session.sourceIP = RESOLVE_V6(six)", "destinations": [{"classes": ["d"], "strategy": "round-robin", "priority": 0}]}]}`,
		GuidelineBinding: &decision.GuidelineBinding{WriterHostgroup: new(int32(1)), ReaderHostgroup: new(int32(1))},
	})
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	return &loaded.Generation{Number: number, Core: core}
}

type fixture struct {
	names
	live     live.Holder[loaded.Generation]
	observed observed.Holder
	log      bytes.Buffer
	resolver *resolve.Resolver
}

func newFixture() *fixture {
	f := &fixture{}
	f.resolver = resolve.New(resolve.Options{
		Live: &f.live, Observed: &f.observed, Lookup: f.look, Interval: time.Minute, Logger: slog.New(slog.NewTextHandler(&f.log, nil)),
	})
	return f
}

// bring brings a generation into force, as the feed does.
func (f *fixture) bring(t *testing.T, g *loaded.Generation) {
	t.Helper()
	f.resolver.Prepare(t.Context(), g)
	f.live.Swap(g.Number, g)
}

// want checks the addresses by name, all IPv4 but those of "six", and the new lines of the log.
func (f *fixture) want(t *testing.T, addresses map[string]string, lines ...string) {
	t.Helper()
	got := make(map[string]string)
	for host, address := range f.observed.Current().Names {
		if host.V6 != (host.Name == "six") {
			t.Errorf("host %v", host)
		}
		got[host.Name] = address
	}
	if !maps.Equal(got, addresses) {
		t.Errorf("names %v, want %v", got, addresses)
	}
	logged := strings.Split(strings.TrimSpace(f.log.String()), "\n")
	f.log.Reset()
	if logged[0] == "" {
		logged = nil
	}
	slices.Sort(logged)
	missing := len(logged) != len(lines)
	for i := 0; i < len(lines) && !missing; i++ {
		missing = !slices.ContainsFunc(logged, func(l string) bool { return strings.Contains(l, lines[i]) })
	}
	if missing {
		t.Errorf("logged %q, want %q", logged, lines)
	}
}

func TestResolver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go f.resolver.Run(ctx)
		rest := func(d time.Duration) {
			<-time.After(d) // by the bubble's clock
			synctest.Wait()
		}
		rest(time.Hour)
		if f.asked != 0 {
			t.Errorf("%d look-ups without a guideline", f.asked)
		}

		// The lowest of several addresses, whatever their order; of each family its own.
		f.set(map[string][]string{"a": {"10.0.0.2", "::ffff:10.0.0.1"}, "six": {"10.0.0.1", "fe80::1%eth0"}})
		f.bring(t, generation(t, 1, "a", "b"))
		f.want(t, map[string]string{"a": "10.0.0.1", "six": "fe80::1"}, "Routing guidelines could not resolve: b")
		synctest.Wait()

		// What failed is tried again soon, what is found again is said once.
		f.set(map[string][]string{"a": {"10.0.0.1"}, "b": {"10.0.0.9"}, "six": {"::1"}})
		rest(5 * time.Second)
		f.want(t, map[string]string{"a": "10.0.0.1", "b": "10.0.0.9", "six": "::1"}, "name=b")
		before := f.asked
		rest(50 * time.Second)
		if f.asked != before {
			t.Errorf("%d look-ups before the interval", f.asked-before)
		}

		// An address stays as long as it is one of them, and when none is found.
		f.set(map[string][]string{"a": {"10.0.0.0", "10.0.0.1"}, "b": {"10.0.0.5"}})
		rest(time.Minute)
		f.want(t, map[string]string{"a": "10.0.0.1", "b": "10.0.0.5", "six": "::1"}, "could not resolve: six")
		rest(time.Hour)
		f.want(t, map[string]string{"a": "10.0.0.1", "b": "10.0.0.5", "six": "::1"})

		// Those of the old generation are known until the new one is in force, then forgotten.
		f.set(map[string][]string{"a": {"10.0.0.1"}, "b": {"10.0.0.5"}, "c": {"10.0.0.3"}, "six": {"::1"}})
		g := generation(t, 2, "c")
		f.resolver.Prepare(ctx, g)
		f.want(t, map[string]string{"a": "10.0.0.1", "b": "10.0.0.5", "c": "10.0.0.3", "six": "::1"})
		f.live.Swap(2, g)
		synctest.Wait()
		f.want(t, map[string]string{"c": "10.0.0.3", "six": "::1"}, "name=six")

		// A resolver that is silent holds nobody up for long.
		f.mu.Lock()
		f.silent = true
		f.mu.Unlock()
		began := time.Now()
		f.bring(t, generation(t, 3, "d"))
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("a generation waited %v for its names", took)
		}
		f.want(t, map[string]string{"c": "10.0.0.3", "six": "::1"}, "could not resolve: d")
	})
}

func TestSystem(t *testing.T) {
	for _, host := range []guideline.Host{{Name: "127.0.0.1"}, {Name: "::1", V6: true}} {
		if got, err := resolve.System(t.Context(), host); err != nil || len(got) != 1 || got[0].Unmap().String() != host.Name {
			t.Errorf("%v: %v, error %v", host, got, err)
		}
	}
	for _, host := range []guideline.Host{{Name: "127.0.0.1", V6: true}, {Name: "::1"}} {
		if got, err := resolve.System(t.Context(), host); err == nil {
			t.Errorf("%v: %v", host, got)
		}
	}
}
