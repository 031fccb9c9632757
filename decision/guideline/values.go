package guideline

import "math"

// Type is the type of a value, and the static type of an expression.
type Type uint8

// The types of the language.
const (
	Null Type = iota
	Number
	String
	Boolean
	RoleType
)

// String gives the type's name as error texts have it.
func (t Type) String() string {
	switch t {
	case Null:
		return "NULL"
	case Number:
		return "NUMBER"
	case String:
		return "STRING"
	case Boolean:
		return "BOOLEAN"
	case RoleType:
		return "ROLE"
	}
	return "unknown type"
}

// Role is the role of a server in its cluster, or of a cluster in its ClusterSet.
type Role uint8

// The roles. The zero Role is what an empty text reads as.
const (
	Undefined Role = iota
	Primary
	Secondary
	ReadReplica
	Replica
)

var roleNames = [...]string{"UNDEFINED", "PRIMARY", "SECONDARY", "READ_REPLICA", "REPLICA"}

// String gives the role as expressions spell it.
func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return "unknown role"
}

// ParseRole reads a role, whatever the case of its letters. The empty text is [Undefined].
func ParseRole(text string) (Role, bool) {
	if text == "" {
		return Undefined, true
	}
	for r, name := range roleNames {
		if equalFold(text, name) {
			return Role(r), true
		}
	}
	return Undefined, false
}

// Value is a value of the language. The zero Value is NULL.
type Value struct {
	Type   Type
	Number float64 // of a NUMBER
	Text   string  // of a STRING, or of a ROLE as it was spelled
	Bool   bool    // of a BOOLEAN
}

// epsilon is the largest number that is as good as zero where a truth is asked for (spec 4.5).
const epsilon = 2.220446049250313e-16

// truth tells whether a value counts as true.
func (v Value) truth() bool {
	switch v.Type {
	case Number:
		return math.Abs(v.Number) > epsilon
	case Boolean:
		return v.Bool
	case String:
		return v.Text != ""
	case RoleType:
		role, known := ParseRole(v.Text)
		return !known || role != Undefined
	case Null:
	}
	return false
}
