package decision

import (
	"fmt"
	"strings"

	"github.com/pointsman/pointsman/decision/guideline"
)

// guideline compiles the guideline in force, its binding and the stored guidelines. One that is not in force can't fail the
// configuration: its problems are warnings.
func (c *compiler) guideline() {
	var inForce *guideline.Guideline
	document := c.cfg.Guideline
	if document != "" {
		inForce = c.document(row{list: "guideline", index: int(None), severity: Error}, "", document)
	}
	wanted := document != "" || c.cfg.ActiveGuideline != ""
	binding := c.binding(wanted)
	if stored, compiled := c.storedGuidelines(); stored != nil && document == "" {
		document, inForce = stored.Document, compiled
	}
	if wanted && inForce != nil && binding != nil {
		c.g.guide = newGuide(document, inForce, binding)
	}
}

// storedGuidelines looks at all of them and gives the active one, if there is one, and what it compiles to.
func (c *compiler) storedGuidelines() (active *StoredGuideline, compiled *guideline.Guideline) {
	first := make(map[string]int, len(c.cfg.Guidelines))
	for i := range c.cfg.Guidelines {
		s := &c.cfg.Guidelines[i]
		at := row{list: "guidelines", index: i, severity: Error}
		if s.Name == "" {
			c.reportf(at, "name", codeEmptyKey, "name is empty; give the guideline a name, e.g. that of its document")
		} else if other, dup := first[s.Name]; dup {
			c.reportf(at, "name", codeDuplicateKey, "guideline %q is already at guidelines[%d]; remove or rename one of the two", s.Name, other)
			continue
		}
		first[s.Name] = i
		isActive := s.Name != "" && s.Name == c.cfg.ActiveGuideline
		if !isActive {
			at.severity = Warning
		}
		g := c.document(at, "document", s.Document)
		if g != nil && g.Name() != s.Name {
			c.report(row{list: "guidelines", index: i, severity: Warning}, "document", whole, codeGuidelineName,
				"the document calls itself \""+g.Name()+"\", but it is stored as \""+s.Name+"\"; give both the same name, so that reports and refusals say which one is in force")
		}
		if isActive {
			active, compiled = s, g
		}
	}
	c.activeGuideline(active != nil)
	return active, compiled
}

func (c *compiler) activeGuideline(found bool) {
	at := row{list: "active_guideline", index: int(None), severity: Error}
	name := c.cfg.ActiveGuideline
	switch {
	case name == "":
	case c.cfg.Guideline != "":
		c.reportf(at, "", codeTwoGuidelines, "active_guideline is %q, but guideline holds a document as well; only one can be in force: leave one of the two empty", name)
	case !found:
		c.reportf(at, "", codeUnknownGuideline, "active_guideline is %q, but guidelines has none of that name; store it there or mend the name (empty: no guideline is in force)", name)
	}
}

// document compiles one document and reports its problems under the field that holds it. The position of a problem with an
// expression is a place in that expression, whose path the problem has.
func (c *compiler) document(at row, field, document string) *guideline.Guideline {
	g, problems := guideline.Compile([]byte(document))
	for i := range problems {
		p := &problems[i]
		path, pos := field, whole
		if p.Path != "" {
			path = strings.TrimPrefix(path+"."+p.Path, ".")
		}
		if p.Expression != "" && p.Start >= 0 {
			pos = p.Start
		}
		c.report(at, path, pos, codeGuideline, strings.TrimPrefix(p.Text, p.Path+": "))
	}
	if g == nil || !c.fits(at, field, g) {
		return nil
	}
	return g
}

// Limits of a guideline together with the servers, each address once.
const (
	maxRouteMembers = 500_000    // of one route: the classes that its groups name, repeats counted, times the servers
	maxMatches      = 10_000_000 // the classes times the servers
)

// fits tells whether pools of the guideline can't grow without bounds, whatever servers its classes match.
func (c *compiler) fits(at row, field string, g *guideline.Guideline) bool {
	if c.addresses == nil {
		c.addresses = make(map[string]bool, len(c.cfg.Servers))
		for i := range c.cfg.Servers {
			c.addresses[c.cfg.Servers[i].Address()] = true
		}
	}
	servers, before := len(c.addresses), len(c.problems)
	if classes := len(g.Classes()); classes*servers > maxMatches {
		c.reportf(at, strings.TrimPrefix(field+".destinations", "."), codeGuideline,
			"the guideline has %d destinations and there are %d servers: their product is above %d; give fewer destinations", classes, servers, maxMatches)
	}
	for i, route := range g.Routes() {
		named := 0
		for _, group := range route.Groups {
			named += len(group.Classes)
		}
		if named*servers > maxRouteMembers {
			c.reportf(at, strings.TrimPrefix(fmt.Sprintf("%s.routes[%d].destinations", field, i), "."), codeGuideline,
				"the groups of route %q name %d classes, repeats counted, and there are %d servers: their product is above %d; name fewer classes",
				route.Name, named, servers, maxRouteMembers)
		}
	}
	return len(c.problems) == before
}
