package guideline

// PreviewQuestion is a topology and a session to try a guideline on. A nil Router or Session is one of which nothing is
// known.
type PreviewQuestion struct {
	Router  *Router
	Servers []Server // in the order of the topology
	Session *Session
	Names   Names
}

// PreviewAnswer is what a guideline does with the servers and the session of a question.
type PreviewAnswer struct {
	Classes []ServerClasses // of each server, in the question's order
	Route   *Route          // nil: none matched
	Tiers   [][]string      // labels of the servers in each of Route's groups, empty groups included
	Errors  []string        // rules that failed: those on servers, server by server, then those on the session; or the document's problems
}

// ServerClasses is a server and the names of its classes in the document's order.
type ServerClasses struct {
	Label   string
	Classes []string
}

// Preview tries a document. One that does not compile gives its problems as Errors and nothing else.
func Preview(document []byte, q PreviewQuestion) PreviewAnswer {
	g, problems := Compile(document)
	if g != nil {
		return g.Preview(q)
	}
	var answer PreviewAnswer
	for _, p := range problems {
		answer.Errors = append(answer.Errors, p.Text)
	}
	return answer
}

// Preview tries the guideline. A rule that fails is no match, and the rest goes on; the errors of one server, and those of
// the session, come newest first. Hidden servers have classes but stand in no tier.
func (g *Guideline) Preview(q PreviewQuestion) PreviewAnswer {
	answer := PreviewAnswer{Classes: make([]ServerClasses, len(q.Servers))}
	available := make([][]int, len(q.Servers))
	for i := range q.Servers {
		server := &q.Servers[i]
		classes, errs := g.Classify(&Facts{Router: q.Router, Server: server, Names: q.Names})
		answer.Classes[i] = ServerClasses{Label: server.Label, Classes: g.classNames(classes)}
		if !Hidden(server.Tags) {
			available[i] = classes
		}
		for _, err := range errs {
			answer.Errors = append(answer.Errors, err.Error())
		}
	}
	route, errs := g.route(&Facts{Router: q.Router, Session: q.Session, Names: q.Names})
	for i := range errs {
		answer.Errors = append(answer.Errors, errs[len(errs)-1-i].Error())
	}
	if route < 0 {
		return answer
	}
	answer.Route = &g.routes[route]
	for _, tier := range g.Tiers(route, available) {
		labels := make([]string, len(tier))
		for i, server := range tier {
			labels[i] = q.Servers[server].Label
		}
		answer.Tiers = append(answer.Tiers, labels)
	}
	return answer
}

func (g *Guideline) classNames(classes []int) []string {
	names := make([]string, len(classes))
	for i, class := range classes {
		names[i] = g.classes[class].Name
	}
	return names
}
