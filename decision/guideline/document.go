package guideline

// Guideline is a compiled document. It never changes and is safe for concurrent use; what its methods give must not be
// changed.
type Guideline struct {
	name    string
	version string
	classes []Class
	routes  []Route
	enabled []int   // indexes of the routes that can match
	program program // of their rules
	hosts   []Host
	uses    Uses
}

// Class is a destination class: the servers for which Match is true.
type Class struct {
	Name  string
	Match string
	rule  *Expression
}

// Route sends the sessions for which Match is true to its groups.
type Route struct {
	Name              string
	Match             string
	Enabled           bool    // false: never matches
	ConnectionSharing *bool   // nil: the listener's own setting counts
	Groups            []Group // by priority, equal ones in the document's order; each is a tier of its own
	rule              *Expression
}

// Group is the members of some classes and how one of them is chosen.
type Group struct {
	Classes  []string // in the document's order, repeats kept
	Strategy Strategy
	Priority uint64 // lower is tried earlier
	classes  []int  // indexes of Classes in the guideline
}

// Strategy is how a server of a tier is chosen.
type Strategy uint8

// The strategies.
const (
	RoundRobin     Strategy = iota // in turn
	FirstAvailable                 // always the first that is available
)

var strategyNames = [...]string{RoundRobin: "round-robin", FirstAvailable: "first-available"}

// String gives the strategy as a document spells it.
func (s Strategy) String() string { return strategyNames[s] }

// Name is the document's name, empty if it has none.
func (g *Guideline) Name() string { return g.name }

// Version is the document's version as written, such as "1.1".
func (g *Guideline) Version() string { return g.version }

// Classes are the destination classes in the document's order.
func (g *Guideline) Classes() []Class { return g.classes }

// Routes are the routes in the document's order, disabled ones too.
func (g *Guideline) Routes() []Route { return g.routes }

// Hosts are the hosts that RESOLVE_V4 and RESOLVE_V6 ask for, in order of appearance, each once.
func (g *Guideline) Hosts() []Host { return g.hosts }

// Compile reads a document (JSON, at most 4 MiB) and checks the whole of it: structure, names, rules and references. With
// any problem there is no guideline; the problems are in the order of section 2 of the specification.
func Compile(document []byte) (*Guideline, []Problem) {
	r := documentReader{
		guideline: &Guideline{},
		classes:   make(map[string]int),
		routes:    make(map[string]bool),
		hosts:     make(map[Host]bool),
	}
	r.read(document)
	if len(r.problems.list) > 0 {
		return nil, r.problems.list
	}
	r.guideline.uses = usesOf(r.guideline)
	return r.guideline, nil
}
