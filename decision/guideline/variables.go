package guideline

// Variables is a set of the variables that have a name of their own: all but tags, attributes and the like.
type Variables uint32

// AllVariables is the set of all of them.
func AllVariables() Variables { return 1<<len(builtins) - 1 }

// Add puts the variable of that name ("session.user") into the set; false when there is none.
func (v *Variables) Add(name string) bool {
	id, found := builtinNamed(name)
	if found {
		*v |= 1 << id
	}
	return found
}

// Remove takes the variable of that name out of the set; false when there is none.
func (v *Variables) Remove(name string) bool {
	id, found := builtinNamed(name)
	if found {
		*v &^= 1 << id
	}
	return found
}

func builtinNamed(name string) (int, bool) {
	for id := range builtins {
		if builtins[id].name == name {
			return id, true
		}
	}
	return 0, false
}
