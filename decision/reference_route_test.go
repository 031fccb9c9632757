package decision_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/digest"
)

// choices gives random numbers that are a fuzzer's bytes, one for each choice, and then made of the last ones.
type choices struct {
	data []byte
	rest rand.PCG
}

func newChoices(data []byte) *choices {
	c := &choices{data: data}
	var seed [8]byte
	copy(seed[:], data[max(0, len(data)-8):])
	c.rest = *rand.NewPCG(binary.LittleEndian.Uint64(seed[:]), uint64(len(data)))
	return c
}

// Uint64 repeats a byte, so that it decides whichever bits count.
func (c *choices) Uint64() uint64 {
	if len(c.data) == 0 {
		return c.rest.Uint64()
	}
	b := c.data[0]
	c.data = c.data[1:]
	return uint64(b) * 0x0101010101010101
}

// withReference compiles a configuration twice: as it is, and to be walked rule after rule.
func withReference(tb testing.TB, cfg *decision.Config) (g, reference *decision.Generation) {
	tb.Helper()
	g, reference = mustCompile(tb, cfg), mustCompile(tb, cfg)
	reference.RoutePlainly()
	return g, reference
}

// TestRouteIsPlain holds Route to the reference over random configurations and questions.
func TestRouteIsPlain(t *testing.T) {
	hits := 0
	for seed := range uint64(400) {
		r := newRandomizer(seed)
		cfg := r.config()
		g, reference := withReference(t, cfg)
		var a, b decision.Answer
		for range 40 {
			q := r.question(g)
			if err := g.Route(q, &a); err != nil {
				t.Fatal(err)
			}
			if err := reference.Route(q, &b); err != nil {
				t.Fatal(err)
			}
			hits += len(a.MatchedRules)
			if got, want := public(t, &a), public(t, &b); got != want {
				t.Fatalf("seed %d, %+v, %q:\ngot  %s\nwant %s\n%s", seed, q, q.Statement.Text, got, want, document(cfg))
			}
		}
	}
	if hits < 5000 {
		t.Errorf("only %d hits", hits)
	}
}

// FuzzRoute makes a configuration, sessions and statements of the fuzzer's bytes and holds Route to the reference. Answers
// that may stand for each other must be equal, and the same question must have the same answer twice.
func FuzzRoute(f *testing.F) {
	for i, text := range someTexts {
		seed := make([]byte, 40+10*i)
		for j := range seed {
			seed[j] = byte(j*31 + i*7)
		}
		f.Add(seed, []byte(text))
	}
	f.Fuzz(func(t *testing.T, data, text []byte) {
		r := randomizer{rand.New(newChoices(data))}
		cfg := r.config()
		g, reference := withReference(t, cfg)
		byCookie := map[string]string{}
		for i := range 8 {
			q := r.question(g)
			if q.Statement.HasText && i%2 == 0 {
				q.Statement.Text = text
			}
			first := route(t, g, q)
			answer := public(t, first)
			if want := public(t, route(t, reference, q)); answer != want {
				t.Fatalf("%+v, %q:\ngot  %s\nwant %s\n%s", q, q.Statement.Text, answer, want, document(cfg))
			}
			if again := public(t, route(t, g, q)); again != answer {
				t.Fatalf("%+v: first %s\nthen  %s", q, answer, again)
			}
			if n, _, ok := decision.ParseCookie(first.Cookie); !ok || n != 1 {
				t.Errorf("cookie %x names generation %d (%t)", first.Cookie, n, ok)
			}
			if first.CacheScope == decision.ScopeNone {
				continue
			}
			key := fmt.Sprintf("%x %d %t %s", first.Cookie, q.Statement.Command, q.Statement.HasText, q.Statement.Text)
			if !q.Statement.HasText {
				key += digest.Format(q.Statement.Digest)
			}
			if other, ok := byCookie[key]; ok && other != answer {
				t.Fatalf("%s\nhas the answers %s\nand %s\n%s", key, answer, other, document(cfg))
			}
			byCookie[key] = answer
		}
	})
}

// TestCookiesFollowAttributes wants sessions that agree on the session attributes to have one cookie, and finds cookies that sessions of
// different users share.
func TestCookiesFollowAttributes(t *testing.T) {
	shared := 0
	for seed := range uint64(200) {
		r := newRandomizer(seed)
		g := mustCompile(t, r.config())
		cookies, users := map[string]string{}, map[string]string{}
		for range 60 {
			q := r.question(g)
			q.Session.KeptRoute = decision.None // a cookie of earlier is no attribute
			a := route(t, g, q)
			var all []any
			for _, name := range g.SessionAttributes() {
				all = append(all, attribute(t, q, name))
			}
			values := fmt.Sprintf("%#v", all)
			if other, ok := cookies[values]; ok && other != string(a.Cookie) {
				t.Fatalf("seed %d: %s has the cookies %x and %x", seed, values, a.Cookie, other)
			}
			cookies[values] = string(a.Cookie)
			if other, ok := users[string(a.Cookie)]; ok && other != q.Session.Username {
				shared++
			}
			users[string(a.Cookie)] = q.Session.Username
		}
	}
	if shared < 1000 {
		t.Errorf("only %d cookies were another user's", shared)
	}
}

func attribute(t *testing.T, q *decision.Question, name string) any {
	t.Helper()
	s := &q.Session
	if key, ok := strings.CutPrefix(name, "connect_attrs."); ok {
		value, known := s.ConnectAttrs[key]
		return []any{value, known}
	}
	switch name {
	case "router":
		if s.Router == nil {
			return nil
		}
		return *s.Router
	case "random_value":
		return s.RandomValue
	case "resolved_names":
		return q.Names
	}
	field, ok := map[string]string{
		"username": "Username", "schemaname": "Schemaname", "client_addr": "ClientAddr", "proxy_addr": "ProxyAddr",
		"proxy_port": "ProxyPort", "next_query_flag_in": "NextQueryFlagIn",
	}[name]
	if !ok {
		t.Fatalf("unknown session attribute %q", name)
	}
	return reflect.ValueOf(s).Elem().FieldByName(field).Interface()
}

// TestCookiesOfUsers names what tells users apart.
func TestCookiesOfUsers(t *testing.T) {
	cfg := readWriteSplit()
	cfg.Users = nil
	for name, hostgroup := range map[string]int32{"a": 1, "b": 1, "c": 2, "ruled": 1, "routed": 1} {
		cfg.Users = append(cfg.Users, decision.User{Username: name, DefaultHostgroup: hostgroup})
	}
	cfg.Users = append(cfg.Users, decision.User{Username: "fast", DefaultHostgroup: 1, FastForward: true})
	cfg.QueryRules = append(cfg.QueryRules, decision.QueryRule{RuleID: 3, Username: "ruled", Schemaname: "shop", DestinationHostgroup: new(int64(3))})
	cfg.FastRoutes[0].Username = "routed"
	g := mustCompile(t, cfg)
	for _, tt := range []struct {
		user, schema, otherUser, otherSchema string
		same                                 bool
	}{
		{"a", "x", "b", "y", true},
		{"a", "x", "c", "x", false},
		{"a", "x", "fast", "x", false},
		{"a", "shop", "ruled", "shop", false},
		{"a", "x", "ruled", "x", true},
		{"a", "crm", "routed", "crm", false},
		{"a", "x", "routed", "x", true},
	} {
		q, other := question(tt.user, "SELECT 1"), question(tt.otherUser, "SELECT 1")
		q.Session.Schemaname, other.Session.Schemaname = tt.schema, tt.otherSchema
		if same := string(route(t, g, q).Cookie) == string(route(t, g, other).Cookie); same != tt.same {
			t.Errorf("%+v: the same cookie: %t", tt, same)
		}
	}
}

// TestConcurrentRoute lets many sessions use one generation at once.
func TestConcurrentRoute(t *testing.T) {
	r := newRandomizer(7)
	cfg := r.config()
	g, alone := mustCompile(t, cfg), mustCompile(t, cfg)
	questions := make([]*decision.Question, 300)
	want := make([]string, len(questions))
	for i := range questions {
		questions[i] = r.question(g)
		questions[i].Session.Schemaname = fmt.Sprint("s", i%40)
		want[i] = public(t, route(t, alone, questions[i]))
	}
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			var a decision.Answer
			for i := range 3 * len(questions) {
				at := (i*7 + worker*50) % len(questions)
				if err := g.Route(questions[at], &a); err != nil {
					t.Error(err)
					return
				}
				if got := public(t, &a); got != want[at] {
					t.Errorf("got  %s\nwant %s", got, want[at])
					return
				}
			}
		})
	}
	all.Wait()
}

// TestClassesAreBounded sends more sessions than a generation keeps.
func TestClassesAreBounded(t *testing.T) {
	g := mustCompile(t, readWriteSplit())
	q := question("app", "UPDATE t SET a=1")
	var a decision.Answer
	ask := func(schema string, want int32) {
		t.Helper()
		q.Session.Schemaname = schema
		if err := g.Route(q, &a); err != nil || a.DestinationHostgroup != want {
			t.Fatalf("hostgroup %d, %v", a.DestinationHostgroup, err)
		}
	}
	_, most := g.Classes()
	for i := range 2 * most {
		ask(fmt.Sprint("schema", i), 10)
		if i%1000 == 0 {
			ask("crm", 40)
		}
	}
	n, _ := g.Classes()
	if n < most*3/4 {
		t.Errorf("%d classes are kept, of %d", n, most)
	}
	if used := g.Memory().Classes; used > most*1024 {
		t.Errorf("they take %d bytes", used)
	}
	ask(string(make([]byte, 10_000)), 10)
	if after, _ := g.Classes(); after != n {
		t.Error("a session with a long schema is kept")
	}
}
