package guideline

// RouteTrace tells why a route was chosen or not.
type RouteTrace struct {
	Route   *Route
	Looked  bool // false: disabled, or an earlier route matched
	Matched bool
	Trace   Trace // of the rule, when it was looked at
}

// Explain goes through the routes as Route does and tells of each what its rule saw.
func (g *Guideline) Explain(f *Facts) []RouteTrace {
	traces := make([]RouteTrace, len(g.routes))
	found := false
	for i := range g.routes {
		trace := RouteTrace{Route: &g.routes[i], Looked: g.routes[i].Enabled && !found}
		if trace.Looked {
			trace.Trace = trace.Route.rule.Explain(f)
			matched, err := trace.Route.rule.Match(f)
			trace.Matched = matched && err == nil
			found = trace.Matched
		}
		traces[i] = trace
	}
	return traces
}
