package guideline

// op is what a node of the tree does.
type op uint8

const (
	opConstant  op = iota
	opJSON         // an object or array, as compact text; legal only beside a tag
	opVariable     // one with a name of its own
	opAttribute    // a connection attribute, or a tag that is read as the text it is stored as
	opTag          // a tag that is read as JSON
	opAbsent       // what nobody can know here: query tags and hints
	opExtra        // one of ParseOptions.Extra
	opNegate
	opAdd
	opSubtract
	opMultiply
	opDivide
	opModulo
	opEqual
	opUnequal
	opLess
	opLessEqual
	opGreater
	opGreaterEqual
	opIn // the first argument among the others
	opNotIn
	opLike
	opNotLike
	opAnd // of two or more
	opOr  // of two or more
	opNot
	opCall
)

// node is a part of a checked expression.
type node struct {
	op         op
	typ        Type
	depth      uint16 // of the tree from here down
	start, end int32  // its place in the text, without parentheses around it
	args       []*node

	constant *Value       // of opConstant and opJSON
	variable *reference   // of the variables
	function *function    // of opCall
	pattern  *likePattern // of opLike and opNotLike
	regexp   *wholeRegexp // of a REGEXP_LIKE whose pattern is constant
}

// reference names a variable.
type reference struct {
	name  string // as written, without "$."
	id    int    // its place among the builtins, or in ParseOptions.Extra
	scope scopeID
	key   string // of a tag or attribute
}

// scopeID is whose variable it is.
type scopeID uint8

const (
	scopeRouter scopeID = iota
	scopeServer
	scopeSession
)

// isConstant tells a literal, or what was computed from literals.
func (n *node) isConstant() bool { return n.op == opConstant }

// isTag tells a tag that is read as JSON.
func (n *node) isTag() bool { return n.op == opTag }
