package decision

import (
	"errors"
	"fmt"

	"github.com/pointsman/pointsman/decision/guideline"
)

// Guide is the routing guideline in force together with its binding. It never changes.
type Guide struct {
	guideline *guideline.Guideline
	document  string
	binding   GuidelineBinding // filled
	writer    int32            // hostgroups
	reader    int32

	named       map[string]ListenerMode
	ported      map[uint32]ListenerMode
	defaultMode ListenerMode

	pools   []routePools   // of each route
	slots   map[string]int // of pools by their names: poolModes of each route, in the order of the modes
	noRoute string         // the refusal of sessions that no route matches
}

// routePools are the lists of pools that choices of one route share.
type routePools struct {
	all, write, read []string
}

// The kinds of pools: what stands before a route's name in a pool's name.
const (
	allPool   = "all:"
	writePool = "write:"
	readPool  = "read:"
)

// NewGuide compiles a document and its binding alone, without the configuration that they are part of: whether the binding's
// hostgroups exist is not looked at. The guide is nil when there are problems that are errors.
func NewGuide(document string, binding *GuidelineBinding) (*Guide, Problems) {
	c := compiler{
		cfg:    &Config{Guideline: document, GuidelineBinding: binding},
		g:      &Generation{},
		warned: make(map[int32]bool),
	}
	if document == "" {
		c.report(row{list: "guideline", index: int(None), severity: Error}, "", whole, codeGuideline,
			"the document is empty; give a routing guideline in JSON")
	}
	c.guideline()
	return c.g.guide, c.problems
}

// newGuide takes a binding whose fields are all filled and checked.
func newGuide(document string, compiled *guideline.Guideline, binding *GuidelineBinding) *Guide {
	d := &Guide{
		guideline: compiled, document: document, binding: *binding, writer: *binding.WriterHostgroup, reader: *binding.ReaderHostgroup,
		noRoute: fmt.Sprintf("no route of the routing guideline %q matches this session", compiled.Name()),
	}
	d.modes(binding)
	d.slots = make(map[string]int, poolModes*len(compiled.Routes()))
	for i, r := range compiled.Routes() {
		all, write, read := allPool+r.Name, writePool+r.Name, readPool+r.Name
		d.slots[all], d.slots[write], d.slots[read] = poolModes*i, poolModes*i+1, poolModes*i+2
		d.pools = append(d.pools, routePools{all: []string{all}, write: []string{write}, read: []string{read, write}})
	}
	return d
}

// Guideline is the compiled document.
func (d *Guide) Guideline() *guideline.Guideline { return d.guideline }

// Document is the document in JSON.
func (d *Guide) Document() string { return d.document }

// Binding is the binding with its defaults filled in. It must not be changed.
func (d *Guide) Binding() *GuidelineBinding { return &d.binding }

// Bound tells whether the guideline stands in for a hostgroup.
func (d *Guide) Bound(hostgroup int32) bool { return hostgroup == d.writer || hostgroup == d.reader }

// has tells whether a session can have a route of that index.
func (d *Guide) has(route int32) bool {
	routes := d.guideline.Routes()
	return route >= 0 && int(route) < len(routes) && routes[route].Enabled
}

// keeps tells whether a session's cookie can name such a route, or that none matched.
func (d *Guide) keeps(route int32) bool { return route == Refused || d.has(route) }

// route gives the session's route; else why it is refused, and Refused when no route matches, or None when a rule fails before
// one matches: as in MySQL Router that refuses the session, since nobody can tell what an earlier route would have said.
func (d *Guide) route(f *guideline.Facts) (route int32, refusal string) {
	i, err := d.guideline.Route(f)
	switch {
	case err != nil:
		return None, d.cannotEvaluate(err)
	case i < 0:
		return Refused, d.noRoute
	}
	return int32(i), ""
}

func (d *Guide) cannotEvaluate(err error) string {
	failed, ok := errors.AsType[*guideline.RouteError](err)
	if !ok {
		return fmt.Sprintf("the routing guideline %q can't be evaluated: %v", d.guideline.Name(), err)
	}
	return fmt.Sprintf("route %q of the routing guideline %q can't be evaluated: %v", failed.Route, d.guideline.Name(), failed.Err)
}
