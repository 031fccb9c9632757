package decision

import "reflect"

// Memory is how much memory a generation takes, in bytes, without the configuration's own texts. Automata and classes grow
// with use, up to a bound.
type Memory struct {
	DigestAutomaton  int // all match_digest
	PatternAutomaton int // all match_pattern
	Rules            int // the rules and the tables that find them
	FastRoutes       int
	Classes          int // what is known of sessions
}

// Memory measures the generation. It takes about as long as a hundred decisions.
func (g *Generation) Memory() Memory {
	m := Memory{FastRoutes: g.fastRoutes.Memory(), Classes: g.classes.memory()}
	m.DigestAutomaton, m.PatternAutomaton = g.rules.AutomataMemory()
	m.Rules = g.rules.TablesMemory()
	return m
}

// memory gives the bytes of all classes that are kept.
func (t *classTable) memory() int {
	n := int(reflect.TypeFor[classTable]().Size())
	for i := range t.slots {
		c := t.slots[i].Load()
		if c == nil {
			continue
		}
		n += int(reflect.TypeFor[class]().Size()) + c.key.length() + cap(c.cookie) + c.session.Memory()
		if c.mirror != nil {
			n += c.mirror.Memory()
		}
	}
	return n
}
