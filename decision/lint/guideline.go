package lint

import "fmt"

// guideline reports classes and routes of the guideline in force that never match, whoever connects. Disabled routes are
// meant not to.
func (l *linter) guideline() {
	if l.guide == nil {
		return
	}
	g, path := l.guide.Guideline(), l.guidelinePath()
	classes, routes := g.Classes(), g.Routes()
	for i := range classes {
		if c := &classes[i]; c.NeverMatches() {
			l.neverMatches(fmt.Sprintf("%s.destinations[%d].match", path, i), fmt.Sprintf("class %q", c.Name))
		}
	}
	for i := range routes {
		if r := &routes[i]; r.Enabled && r.NeverMatches() {
			l.neverMatches(fmt.Sprintf("%s.routes[%d].match", path, i), fmt.Sprintf("route %q", r.Name))
		}
	}
}

func (l *linter) neverMatches(path, what string) {
	l.findings = append(l.findings, placed{listGuideline, 0, Finding{
		Code: codeGuidelineNever, Severity: Warning, Path: path,
		Message: what + " can never match: its rule is always FALSE",
		Remedy:  "Begin the names of variables with $., as in $.session.user: a word without it is a text. If it shall not match, remove it, or disable the route.",
	}})
}

// guidelinePath is where the document of the guideline in force is.
func (l *linter) guidelinePath() string {
	if l.cfg.Guideline == "" {
		for i := range l.cfg.Guidelines {
			if l.cfg.Guidelines[i].Name == l.cfg.ActiveGuideline {
				return fmt.Sprintf("guidelines[%d].document", i)
			}
		}
	}
	return "guideline"
}
