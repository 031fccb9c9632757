package guideline

// RouteError is a route whose rule could not be evaluated.
type RouteError struct {
	Route string
	Err   error
}

// Error gives "route.<name>: <message>".
func (e *RouteError) Error() string { return "route." + e.Route + ": " + e.Err.Error() }

// Unwrap gives what the rule failed with.
func (e *RouteError) Unwrap() error { return e.Err }

// Route gives the index of the first enabled route whose rule is true for a session, -1 if there is none. A rule that
// fails does not match; the error, a *RouteError, is that of the first one that failed before a match. MySQL Router
// refuses a session in that case, match or not.
func (g *Guideline) Route(f *Facts) (int, error) {
	if i, ok := g.program.run(f); ok {
		if i < 0 {
			return -1, nil
		}
		return g.enabled[i], nil
	}
	route, errs := g.route(f)
	if errs != nil {
		return route, errs[0]
	}
	return route, nil
}

// route is Route with every error.
func (g *Guideline) route(f *Facts) (index int, errs []error) {
	for _, i := range g.enabled {
		route := &g.routes[i]
		matched, err := route.rule.Match(f)
		if err != nil {
			errs = append(errs, &RouteError{Route: route.Name, Err: err})
		} else if matched {
			return i, errs
		}
	}
	return -1, errs
}
