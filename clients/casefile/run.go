package casefile

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pointsman/pointsman/decision"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/translate"
)

// Generation is the number that a configuration under test counts as.
const Generation = 1

// Runner runs case files. It compiles each configuration file once.
type Runner struct {
	// Read reads a configuration document.
	Read func(raw []byte) (*decision.Config, error)

	compiled map[string]*compiled
}

// compiled is a configuration, or why there is none.
type compiled struct {
	generation *decision.Generation // nil: there are errors among the problems
	problems   decision.Problems
	err        error // it can't be read
}

// Result is the outcome of one case.
type Result struct {
	Case     *Case
	Failures []Failure

	answers  []answer // in step with the case's statements
	problems []string // of the configuration, as a case writes them
}

// Failure is a wanted value that is not so.
type Failure struct {
	// Line is where the value is wanted.
	Line int
	// Statement is the text; empty when a problem of the configuration is wanted.
	Statement string
	// Field is the name of the field, "error" when there is no answer, or "problem".
	Field string
	// Want and Got are values as a case file has them.
	Want, Got string
	// Explain holds the arguments of pointsmanctl explain that shows the statement's way; nil: there is none to show.
	Explain []string
}

// answer is what came of a statement: the value of each field, and the names of those that are worth a line.
type answer struct {
	values map[string]string
	worth  []string
}

// Run runs the cases whose name matches; nil matches all. The error is a MistakesError: of a configuration that can't be
// read, or one that can't be compiled although a case has statements.
func (r *Runner) Run(f *File, match *regexp.Regexp) ([]Result, error) {
	var results []Result
	var mistakes MistakesError
	broken := make(map[string]bool)
	for _, c := range f.Cases {
		if match != nil && !match.MatchString(c.Name) {
			continue
		}
		cfg := r.compile(f, c.config)
		if cfg.err == nil && (cfg.generation != nil || len(c.steps) == 0) {
			results = append(results, runCase(f, c, cfg))
			continue
		}
		if broken[c.config] {
			continue
		}
		broken[c.config] = true
		line := c.Line
		if c.configLine > 0 {
			line = c.configLine
		}
		if cfg.err != nil {
			mistakes = append(mistakes, f.mistake(line, "configuration %s: %v", c.config, cfg.err))
			continue
		}
		for i := range cfg.problems {
			if p := &cfg.problems[i]; p.Severity == decision.Error {
				mistakes = append(mistakes, f.mistake(line, "configuration %s can't be compiled: %s: %s [%s]", c.config, p.Path, p.Message, p.Code))
			}
		}
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	return results, nil
}

// compile gives the configuration of that name: a section of the file, or a file beside it.
func (r *Runner) compile(f *File, name string) *compiled {
	text, inline := f.inline[name]
	key, path := "text\x00"+text, configPath(f, name)
	if !inline {
		key = "file\x00" + path
	}
	if c := r.compiled[key]; c != nil {
		return c
	}
	c := &compiled{}
	raw := []byte(text)
	if !inline {
		raw, c.err = os.ReadFile(path) //nolint:gosec // the user names the file
	}
	if c.err == nil {
		var cfg *decision.Config
		if cfg, c.err = r.Read(raw); c.err == nil {
			c.generation, c.problems = decision.Compile(Generation, cfg)
		}
	}
	if r.compiled == nil {
		r.compiled = make(map[string]*compiled)
	}
	r.compiled[key] = c
	return c
}

func configPath(f *File, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(f.Path), name)
}

func runCase(f *File, c *Case, cfg *compiled) Result {
	out := Result{Case: c}
	for i := range cfg.problems {
		p := &cfg.problems[i]
		out.problems = append(out.problems, fmt.Sprintf("%s %s %s", p.Severity, p.Code, p.Path))
	}
	if c.wantsNone || len(c.problems) > 0 {
		out.Failures = append(out.Failures, missing(c, out.problems)...)
	}
	q := &decision.Question{Session: decision.Session{
		NextQueryFlagIn: decision.None, TransactionHostgroup: decision.None, LockedHostgroup: decision.None, KeptRoute: decision.None,
	}}
	var a decision.Answer
	for _, s := range c.steps {
		for _, set := range s.settings {
			set.apply(q)
		}
		q.Statement.Text, q.Statement.HasText = s.text, true
		explain := explainArguments(f, c, q, cfg.generation.LooksAtRandomValue())
		got := ask(cfg.generation, q, &a)
		out.answers = append(out.answers, got)
		wants := s.wants
		if !s.wantsError() && got.values[fieldError] != Unset {
			wants = []want{{line: s.line, field: fieldError, value: Unset}} // one cause, one failure
		}
		for _, w := range wants {
			if have := got.values[w.field]; have != w.value {
				out.Failures = append(out.Failures, Failure{
					Line: w.line, Statement: string(s.text), Field: w.field, Want: writeValue(w.value), Got: writeValue(have), Explain: explain,
				})
			}
		}
	}
	return out
}

// missing compares the wanted problems with those that the configuration has.
func missing(c *Case, got []string) (failures []Failure) {
	wanted := c.problems
	if c.wantsNone {
		wanted = nil
	}
	left := slices.Clone(got)
	for _, w := range wanted {
		if i := slices.Index(left, w.value); i >= 0 {
			left = slices.Delete(left, i, i+1)
			continue
		}
		failures = append(failures, Failure{Line: w.line, Field: "problem", Want: w.value, Got: Unset})
	}
	for _, g := range left {
		failures = append(failures, Failure{Line: c.Line, Field: "problem", Want: Unset, Got: g})
	}
	return failures
}

// ask routes the statement and takes over what it does to the session.
func ask(g *decision.Generation, q *decision.Question, a *decision.Answer) answer {
	out := answer{values: map[string]string{fieldError: Unset, fieldServers: Unset}}
	resp := &decisionv1.RouteStatementResponse{}
	err := g.Route(q, a)
	if err != nil {
		out.values[fieldError] = strings.Join(strings.Fields(err.Error()), " ")
	} else {
		translate.AnswerToProto(a, resp)
		resp.SessionAttributes = g.SessionAttributes()
		servers := eligible(g, a)
		if a.HasGuideline {
			servers = eligiblePool(g, q, a)
		}
		if len(servers) > 0 {
			out.values[fieldServers] = strings.Join(servers, " ")
		}
		out.worth = []string{"destination_hostgroup", "reason", "matched_rules"}
		if a.HasGuideline {
			out.worth = append(out.worth, "guideline.route")
		}
		if a.Has(decision.NextQueryFlagIn) && a.Reason != decision.ReasonAnswered {
			q.Session.NextQueryFlagIn = a.NextQueryFlagIn
		}
	}
	for name, v := range fieldsOf(resp.ProtoReflect()) {
		out.values[name] = v.render()
		if err == nil && v.field.HasPresence() && out.values[name] != Unset && !slices.Contains(out.worth, name) {
			out.worth = append(out.worth, name)
		}
	}
	return out
}

// eligible gives the servers that could be drawn for the statement.
func eligible(g *decision.Generation, a *decision.Answer) []string {
	r := &decision.SelectRequest{Hostgroup: a.DestinationHostgroup, Explain: true}
	if a.Has(decision.MaxLagMS) {
		r.MaxLagMS = &a.MaxLagMS
	}
	out := make(map[string]bool)
	servers := g.Servers()
	for i := range servers {
		if servers[i].HostgroupID == a.DestinationHostgroup {
			out[servers[i].Address()] = true
		}
	}
	for _, rejected := range g.Select(r).Rejections {
		delete(out, rejected.Server)
	}
	return slices.Sorted(maps.Keys(out))
}

// eligiblePool gives the servers that could be drawn from the first of the guideline's pools that has any. Their roles are those
// that the configuration says.
func eligiblePool(g *decision.Generation, q *decision.Question, a *decision.Answer) []string {
	pools := g.Guide().NewPools(q.Session.Router, g.Hostgroups(), g.Servers(), &decision.Runtime{Names: q.Names})
	r := &decision.SelectRequest{Explain: true}
	if a.Has(decision.MaxLagMS) {
		r.MaxLagMS = &a.MaxLagMS
	}
	for _, name := range a.Guideline.Pools {
		drawn, err := g.SelectPool(pools, name, r)
		if err != nil || drawn.Server == nil {
			continue
		}
		out := make(map[string]bool)
		for _, row := range pools.Pool(name).Rows() {
			out[g.Servers()[row].Address()] = true
		}
		for _, rejected := range drawn.Rejections {
			delete(out, rejected.Server)
		}
		return slices.Sorted(maps.Keys(out))
	}
	return nil
}
