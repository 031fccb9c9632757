package decision

// RoutePlainly makes a generation that no one uses yet test rule after rule.
func (g *Generation) RoutePlainly() { g.plain = true }

// Classes gives the number of session classes that are kept, and the most that can be.
func (g *Generation) Classes() (n, most int) {
	for i := range g.classes.slots {
		if g.classes.slots[i].Load() != nil {
			n++
		}
	}
	return n, len(g.classes.slots)
}
