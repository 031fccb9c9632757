package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// brokenProblems are some of the problems of a document that broken has broken, by their places.
var brokenProblems = map[string]string{
	"routes[0].match":                    "undefined variable: session.nobody in '$.session.nobody'",
	"routes[1].destinations[0].strategy": "unexpected value 'round-robbing', supported strategies: round-robin, first-available",
}

// wantProblems checks that brokenProblems are told.
func wantProblems(t *testing.T, what, text string) {
	t.Helper()
	for place, problem := range brokenProblems {
		told := func(line string) bool { return strings.Contains(line, place) && strings.Contains(line, problem) }
		if !slices.ContainsFunc(strings.Split(text, "\n"), told) {
			t.Errorf("%s: no problem of %s %q in\n%s", what, place, problem, text)
		}
	}
}

// broken breaks a document in two places.
func broken(t *testing.T, document string) string {
	t.Helper()
	for _, fault := range []struct{ sound, broken string }{
		{"$.session.user", "$.session.nobody"},
		{`"Main"],"priority":0,"strategy":"round-robin"`, `"Main"],"priority":0,"strategy":"round-robbing"`},
	} {
		if !strings.Contains(document, fault.sound) {
			t.Fatalf("no %s in %s", fault.sound, document)
		}
		document = strings.Replace(document, fault.sound, fault.broken, 1)
	}
	return document
}

// wantState checks what the decision server says of its configuration.
func (f *guidelineFleet) wantState(t *testing.T, state string, generation uint64) {
	t.Helper()
	eventually(t, "the metrics say "+state, patience, func() (bool, string) {
		_, page := get(t, f.server.admin, "/metrics")
		return strings.Contains(page, fmt.Sprintf("pointsman_config_state{state=%q} 1\n", state)) &&
			strings.Contains(page, fmt.Sprintf("pointsman_generation %d\n", generation)), page
	})
	text, stderr, code := f.server.ctl(t, "guideline", "show")
	if (code != 0) != (state == "stale") || !strings.Contains(text, state+", ") || !strings.Contains(text, fmt.Sprint("generation ", generation)) {
		t.Errorf("guideline show: exit status %d, want %s and generation %d\n%s%s", code, state, generation, text, stderr)
	}
	stdout, stderr, _ := f.server.ctl(t, "guideline", "show", "-o", "json")
	var shown struct {
		Guideline struct{ Name string }
		State     struct {
			State      string
			Generation uint64 `json:"running_generation,string"`
			Rejection  *struct {
				Problems []struct{ Path, Message string }
			}
		}
	}
	if err := json.Unmarshal([]byte(stdout), &shown); err != nil {
		t.Fatalf("guideline show -o json: %v\n%s%s", err, stdout, stderr)
	}
	if shown.State.State != "CONFIG_STATE_"+strings.ToUpper(state) || shown.State.Generation != generation || shown.Guideline.Name != "everyone" ||
		(shown.State.Rejection != nil) != (state == "stale") {
		t.Errorf("guideline show -o json: %+v, want state %s, generation %d, guideline everyone and a rejection only when stale", shown, state, generation)
	}
	if state == "stale" {
		var lines strings.Builder
		for _, problem := range shown.State.Rejection.Problems {
			fmt.Fprintln(&lines, problem.Path, problem.Message)
		}
		wantProblems(t, "guideline show", text)
		wantProblems(t, "guideline show -o json", lines.String())
	}
}

// TestBroken: a broken document is told with all its problems and changes nothing, whatever is started again, until it is
// mended; without a guideline the rules alone decide.
func (d *guidelineDatabases) TestBroken(t *testing.T) {
	f := d.newFleet(t, "")
	sound := guideline(t, "everyone", to("app", "$.session.user = 'app'", "Remote", "Canary"), toMain)
	file := guidelineFile(t, sound)
	conn := f.session(t, login{})
	check := func(reads, writes int) {
		t.Helper()
		wantServers(t, conn, reads, writes)
		wantServers(t, f.session(t, login{}), reads, writes)
		f.wantOperators(t, conn)
	}
	accept := func(generation uint64, args ...string) {
		t.Helper()
		if stdout, stderr, code := f.server.ctl(t, append([]string{"guideline"}, args...)...); code != 0 {
			t.Fatalf("guideline %v: exit status %d\n%s%s", args, code, stdout, stderr)
		}
		f.follow(t, generation)
	}
	refuse := func(generation uint64, args ...string) {
		t.Helper()
		stdout, stderr, code := f.server.ctl(t, args...)
		if code != 1 {
			t.Errorf("%v: exit status %d, want 1\n%s%s", args, code, stdout, stderr)
		}
		wantProblems(t, strings.Join(args, " "), stdout)
		f.wantState(t, "stale", generation)
		check(4, 3)
	}
	check(2, 1)
	accept(2, "import", file, "--name", "everyone", "--activate")
	f.wantState(t, "current", 2)
	check(4, 3)

	brokenFile := guidelineFile(t, broken(t, sound))
	refuse(2, "guideline", "import", brokenFile, "--name", "everyone", "--activate")
	refuse(2, "publish", f.configuration(t, broken(t, strings.ReplaceAll(sound, "everyone", "another"))))
	f.server.kill(t)
	check(4, 3)
	f.server.start(t)
	f.server.awaitHealth(t, "")
	f.server.awaitHealth(t, "pointsman.config.v1.ConfigService")
	f.wantState(t, "stale", 2)
	check(4, 3)

	accept(3, "import", file, "--name", "everyone", "--activate")
	f.wantState(t, "current", 3)
	check(4, 3)
	accept(4, "deactivate")
	if stdout, stderr, code := f.server.ctl(t, "guideline", "show"); code != 1 || !strings.Contains(stdout, "none is in force") {
		t.Errorf("guideline show without one: exit status %d\n%s%s", code, stdout, stderr)
	}
	check(2, 1)
	accept(5, "activate", "everyone")
	f.wantState(t, "current", 5)
	check(4, 3)

	refuse(5, "guideline", "import", brokenFile, "--name", "everyone", "--activate")
	if stdout, stderr, code := f.server.ctl(t, "rollback", "3"); code != 0 {
		t.Fatalf("rollback: exit status %d\n%s%s", code, stdout, stderr)
	}
	f.follow(t, 6)
	f.wantState(t, "current", 6)
	check(4, 3)
}

// TestInvalid: while no publication was ever sound, nothing is in force, and the reason is told, whatever is started again.
func (d *guidelineDatabases) TestInvalid(t *testing.T) {
	sound := guideline(t, "first", to("app", "$.session.user = 'app'", "Remote"), toMain)
	p := newPointsman(t)
	invalid := func() {
		t.Helper()
		eventually(t, "the metrics say invalid", patience, func() (bool, string) {
			_, page := get(t, p.admin, "/metrics")
			return strings.Contains(page, `pointsman_config_state{state="invalid"} 1`), page
		})
		stdout, stderr, code := p.ctl(t, "guideline", "show")
		if code != 1 || !strings.Contains(stdout, "invalid, nothing is in force") {
			t.Errorf("guideline show: exit status %d, want invalid\n%s%s", code, stdout, stderr)
		}
		wantProblems(t, "guideline show", stdout)
	}
	stdout, stderr, code := p.ctl(t, "publish", d.configuration(t, broken(t, sound)))
	if code != 1 {
		t.Errorf("publish: exit status %d, want 1\n%s%s", code, stdout, stderr)
	}
	wantProblems(t, "publish", stdout)
	invalid()
	p.stop(t)
	p.start(t)
	p.awaitHealth(t, "pointsman.config.v1.ConfigService")
	invalid()
	if got := p.publish(t, d.configuration(t, sound)); got != 1 {
		t.Errorf("publish: generation %d, want 1", got)
	}
	p.awaitHealth(t, "")
	if stdout, stderr, code := p.ctl(t, "guideline", "show"); code != 0 || !strings.Contains(stdout, "current, generation 1") {
		t.Errorf("guideline show: exit status %d, want current\n%s%s", code, stdout, stderr)
	}
}

// TestRefused: a session that no route takes is told so and lives on.
func (d *guidelineDatabases) TestRefused(t *testing.T) {
	const words = `no route of the routing guideline "few" matches this session`
	few := guideline(t, "few", to("batch", "$.session.user = 'batch'", "Remote", "Canary"))
	f := d.newFleet(t, few)
	conn, held := f.session(t, login{}), f.session(t, login{})
	lives := func(c querier) {
		t.Helper()
		wantServers(t, c, 2, 1)
	}
	f.guide(t, guideline(t, "few", toMain))
	stmt, err := conn.PrepareContext(t.Context(), readQuery)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stmt.Close() })
	f.guide(t, few)
	for range 2 {
		if _, err := conn.PrepareContext(t.Context(), readQuery); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("prepare: %v, want a refusal", err)
		}
		if err := stmt.QueryRowContext(t.Context()).Scan(new(int)); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("execute: %v, want a refusal", err)
		}
		if _, err := conn.BeginTx(t.Context(), nil); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("begin: %v, want a refusal", err)
		}
		wantRefused(t, conn, readQuery, words)
		wantRefused(t, conn, writeQuery, words)
		if err := conn.PingContext(t.Context()); err != nil {
			t.Fatalf("ping after a refusal: %v", err)
		}
		f.wantOperators(t, conn)
		wantServers(t, f.session(t, login{user: "batch"}), 4, 3)

		f.guide(t, guideline(t, "few", toMain))
		lives(conn)
		if err := stmt.QueryRowContext(t.Context()).Scan(new(int)); err != nil {
			t.Errorf("execute after a refusal: %v", err)
		}
		tx, err := held.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		wantServer(t, tx, 1, readQuery)
		f.guide(t, few)
		wantServer(t, tx, 1, readQuery) // What is begun may be ended.
		if err := tx.Commit(); err != nil {
			t.Fatalf("commit without a route: %v", err)
		}
		wantRefused(t, held, readQuery, words)
	}
	f.guide(t, "")
	lives(conn)
	lives(held)
}

// TestResolve: names are resolved outside of decisions; one that can't be refuses the sessions whose route looks at it.
func (d *guidelineDatabases) TestResolve(t *testing.T) {
	f := d.newFleet(t, guideline(t, "names", to("local", "$.session.sourceIP = RESOLVE_V4('localhost')", "Remote", "Canary"), toMain))
	conn, other := f.session(t, login{}), f.session(t, login{source: "127.0.4.1"})
	eventually(t, "localhost is resolved", patience, func() (bool, string) {
		refusal := refused(t.Context(), conn, readQuery)
		return refusal == nil, fmt.Sprint(refusal)
	})
	wantServers(t, conn, 4, 3)
	wantServers(t, other, 2, 1)

	f.guide(t, guideline(t, "names", to("batch", "$.session.user = 'batch'", "Remote", "Canary"),
		to("unknown", "$.session.sourceIP = RESOLVE_V4('nowhere.invalid')", "Remote"), toMain))
	wantRefused(t, conn, readQuery, `route "unknown" of the routing guideline "names" can't be evaluated`, "No cache entry to resolve host: nowhere.invalid")
	wantServers(t, f.session(t, login{user: "batch"}), 4, 3)
	f.wantOperators(t, conn)
	f.guide(t, guideline(t, "names", toMain))
	wantServers(t, conn, 2, 1)
}
