package guideline

// Router is what is known of the router: of the gateway and its listener, that is.
// Tags hold compact JSON texts. Variables named in Null read NULL.
type Router struct {
	LocalCluster, Hostname, BindAddress, RouteName, Name string
	PortRO, PortRW, PortRWSplit                          float64
	Tags                                                 map[string]string
	Null                                                 Variables
}

// Server is what is known of one server. Version is MMmmpp (8.4.3 is 80403), Tags hold compact JSON texts.
// Variables named in Null read NULL.
type Server struct {
	Label, Address, UUID        string
	Port, Version               float64
	ClusterName, ClusterSetName string
	IsClusterInvalidated        bool
	MemberRole, ClusterRole     Role
	Tags                        map[string]string
	Null                        Variables
}

// Session is what is known of one session. RandomValue is in [0,1) and kept as long as the session lives.
// Variables named in Null read NULL.
type Session struct {
	TargetIP, SourceIP, User, Schema string
	TargetPort, RandomValue          float64
	ConnectAttrs                     map[string]string
	Null                             Variables
}

// Host is a host name to look up: lower-cased, and the family of addresses that is wanted.
type Host struct {
	Name string
	V6   bool
}

// Names are the addresses of hosts, as texts. Those that could not be resolved are absent.
type Names map[Host]string

// Facts are what an expression looks at. The variables of an absent scope read NULL.
//
// Facts are the scratch of one caller: they remember what was worked out of them, so they are not for concurrent use, and
// whoever changes what they point to calls [Facts.Reset]. What they point to is only read.
type Facts struct {
	Router  *Router
	Server  *Server
	Session *Session
	Names   Names

	source  sourceAddress
	spelled map[int]string // roles as somebody spelled them, by the variable; others have their names
	walker  walker         // for parts that have no quicker way
}

// sourceAddress is the session's source address as a number, worked out at most once.
type sourceAddress struct {
	looked, valid bool
	address       uint32
}

// Reset forgets what was worked out of the facts.
func (f *Facts) Reset() { f.source = sourceAddress{} }

// scratch gives the walker of these facts.
func (f *Facts) scratch(extra []Variable) *walker {
	f.walker.facts, f.walker.extra = f, extra
	return &f.walker
}
