package guideline

import (
	"math/rand/v2"
	"sync"
	"testing"
)

// A program of several expressions finds what asking one after the other finds.
func TestProgramOfSeveral(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	found := make(map[int]int)
	failures := 0
	for range 2000 {
		var expressions []*Expression
		for len(expressions) < 4 {
			r := randomText{rng: rng, jsonTags: true}
			if e, bad := ParseExpression(r.of(Boolean, 3), ParseOptions{JSONTags: true}); bad == nil {
				expressions = append(expressions, e)
			}
		}
		p := programOf(expressions)
		for range 4 {
			f := randomFacts(rng)
			want, wantOK := -1, true
			for i, e := range expressions {
				matched, err := e.Match(f)
				if matched {
					want = i
				}
				wantOK = err == nil
				if matched || !wantOK {
					break
				}
			}
			got, ok := p.run(f)
			if got != want || ok != wantOK {
				t.Fatalf("program gives %d (%v), one by one %d (%v)", got, ok, want, wantOK)
			}
			found[got]++
			if !ok {
				failures++
			}
		}
	}
	for i := -1; i < 4; i++ {
		if found[i] < 100 {
			t.Errorf("only %d times the answer %d: that says little", found[i], i)
		}
	}
	if failures < 100 {
		t.Errorf("only %d failures: that says little", failures)
	}
}

func TestMatchAllocatesNothing(t *testing.T) {
	f := &Facts{
		Router:  &Router{LocalCluster: "Berlin", PortRW: 6446, Tags: map[string]string{"zone": `"a"`}},
		Server:  &Server{Label: "db1:3306", Port: 3306, Version: 80403, MemberRole: Secondary, Tags: map[string]string{"zone": `"a"`, "n": "41"}},
		Session: &Session{User: "app", Schema: "shop", SourceIP: "10.1.2.3", TargetPort: 6446, RandomValue: 0.5, ConnectAttrs: map[string]string{"program_name": "mysql"}},
		Names:   Names{{Name: "db1"}: "10.1.2.3"},
	}
	for _, text := range []string{
		"$.session.user = 'APP' AND $.session.schema IN ('a', 'shop') AND NOT $.session.connectAttrs.program_name = 'mysqldump'",
		"$.session.user IN ('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'app')",
		"$.session.schema LIKE 'sh%' AND $.session.schema LIKE '%o_' AND $.session.connectAttrs.program_name NOT LIKE '%dump%'",
		"NETWORK($.session.sourceIP, 16) = '10.1.0.0' AND NETWORK($.session.sourceIP, 8) IN ('10.0.0.0', '11.0.0.0')",
		"$.session.sourceIP = RESOLVE_V4(db1) AND IS_IPV4($.session.sourceIP) AND NOT IS_IPV6($.session.sourceIP)",
		"$.session.targetPort = $.router.port.rw AND $.session.randomValue < 0.75 AND 1 + $.session.targetPort * 2 > 100 AND $.session.targetPort IN (1, 6446)",
		"$.server.memberRole IN (SECONDARY, READ_REPLICA) AND $.server.version >= 80400 AND $.server.clusterRole = UNDEFINED",
		"$.server.tags.zone = 'a' AND $.server.tags.n > 9 AND $.server.tags.n IN (1, 41) AND $.server.tags.zone = $.router.tags.zone AND $.server.tags.zone LIKE 'a%'",
		"STARTSWITH($.server.label, 'db') AND ENDSWITH($.server.label, ':3306') AND CONTAINS($.server.label, 'B1') = TRUE",
		"REGEXP_LIKE($.session.schema, '(shop|cart)[0-9]*') AND SUBSTRING_INDEX($.server.label, ':', 1) = 'db1' AND NUMBER(SUBSTRING_INDEX($.server.label, ':', -1)) = 3306",
		"($.session.user OR FALSE) = TRUE AND ($.session.user < $.session.schema) AND NOT ($.session.schema = NULL)",
		"$.session.user IN ($.session.schema, 'app') AND NOT $.session.connectAttrs.none = 'x' AND $.session.connectAttrs.none <> 'x'",
	} {
		e, bad := ParseExpression(text, ParseOptions{JSONTags: true})
		if bad != nil {
			t.Fatal(bad)
		}
		if matched, err := e.Match(f); err != nil || !matched {
			t.Errorf("%s: %v (%v), want true", text, matched, err)
		}
		sameAnswers(t, e, f)
		if allocs := testing.AllocsPerRun(100, func() { _, _ = e.Match(f) }); allocs > 0 {
			t.Errorf("%s: %v allocations", text, allocs)
		}
	}
}

// Facts remember the source address until they are reset.
func TestReset(t *testing.T) {
	e, bad := ParseExpression("NETWORK($.session.sourceIP, 8) = '10.0.0.0'", ParseOptions{})
	if bad != nil {
		t.Fatal(bad)
	}
	f := &Facts{Session: &Session{SourceIP: "10.1.2.3"}}
	if matched, err := e.Match(f); err != nil || !matched {
		t.Errorf("10.1.2.3: %v (%v), want true", matched, err)
	}
	f.Session.SourceIP = "11.1.2.3"
	f.Reset()
	if matched, err := e.Match(f); err != nil || matched {
		t.Errorf("11.1.2.3: %v (%v), want false", matched, err)
	}
}

// One expression serves many goroutines, each with facts of its own (run with -race).
func TestConcurrentMatch(t *testing.T) {
	e, bad := ParseExpression("NETWORK($.session.sourceIP, 8) = '10.0.0.0' AND CONCAT($.session.user, 'x') IN ('appx', $.session.schema)", ParseOptions{})
	if bad != nil {
		t.Fatal(bad)
	}
	session := &Session{SourceIP: "10.1.2.3", User: "app"}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			f := &Facts{Session: session}
			for range 1000 {
				if matched, err := e.Match(f); err != nil || !matched {
					t.Errorf("%v (%v), want true", matched, err)
					return
				}
			}
		})
	}
	group.Wait()
}
