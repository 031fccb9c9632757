package decision

import "fmt"

// Compile checks a whole configuration and makes it generation number. All problems come at once, in the document's
// order. The generation is nil when one of them is an Error. The generation takes over nothing of cfg that it would
// change, but shares its texts: cfg must not be changed afterwards.
func Compile(number uint64, cfg *Config) (*Generation, Problems) {
	c := &compiler{
		cfg:    cfg,
		warned: make(map[int32]bool),
		g: &Generation{
			number: number,
			groups: make(map[int32]*group),
			byName: make(map[string]*User, len(cfg.Users)),
		},
	}
	c.settings()
	c.hostgroups()
	c.servers()
	c.users()
	c.rules()
	c.fastRoutes()
	c.guideline()
	if c.problems.HasErrors() {
		return nil, c.problems
	}
	c.g.attributes = c.g.sessionAttributes()
	c.g.sources = ruleSources(cfg.QueryRules, c.g.digests)
	return c.g, c.problems
}

// compiler collects problems while it fills the generation.
type compiler struct {
	cfg      *Config
	g        *Generation
	problems Problems
	warned   map[int32]bool // hostgroups that are known to be unknown

	addresses map[string]bool // of all servers; filled when a guideline is there

	expressionsOf map[expressionKey]*expression // of all rules
}

// row is the row that a problem is about. Its severity is that of its errors: Warning when the row is not active, as it
// is kept and not used then.
type row struct {
	list     string // e.g. "query_rules"
	index    int    // in the list; None: list is no list
	ruleID   int64
	severity Severity
}

// name is the row's path.
func (r row) name() string {
	if r.index >= 0 {
		return fmt.Sprintf("%s[%d]", r.list, r.index)
	}
	return r.list
}

// whole is the position of a problem with a whole field.
const whole = -1

func (c *compiler) report(at row, field string, pos int, code, message string) {
	path := at.name()
	if field != "" {
		path += "." + field
	}
	c.problems = append(c.problems, Problem{
		RuleID: at.ruleID, Path: path, Position: pos, Code: code, Severity: at.severity, Message: message,
	})
}

func (c *compiler) reportf(at row, field, code, format string, args ...any) {
	c.report(at, field, whole, code, fmt.Sprintf(format, args...))
}

// warn reports what will surprise somebody. Nobody is surprised by a row that is not active.
func (c *compiler) warn(at row, field string, pos int, code, message string) {
	if at.severity == Error {
		at.severity = Warning
		c.report(at, field, pos, code, message)
	}
}

func (c *compiler) warnf(at row, field, code, format string, args ...any) {
	c.warn(at, field, whole, code, fmt.Sprintf(format, args...))
}

// inRange reports a number outside low..high and tells whether it is inside.
func (c *compiler) inRange(at row, field string, n, low, high int64) bool {
	if n >= low && n <= high {
		return true
	}
	c.reportf(at, field, codeOutOfRange, "%s is %d; give a number from %d to %d", field, n, low, high)
	return false
}

// filled gives *p, or the default when p is nil.
func filled[T any](p *T, def T) *T {
	if p == nil {
		return &def
	}
	return p
}
