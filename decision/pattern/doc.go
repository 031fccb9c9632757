// Package pattern compiles the regular expressions of query rules, finds which of them match a text, and rewrites texts.
//
// An expression means what it means to ProxySQL's default engine, PCRE without UTF mode: texts are bytes, folding of
// case and \w, \d, \s and \b know ASCII only, `$` also holds before a final newline, and `.` crosses everything but a
// newline. Go's regexp differs in each of these and lacks half of the syntax, so the package has its own reader:
//
//	parse*.go    the expression to a small tree of byte sets (tree.go, byteset.go)
//	analyze.go   what the tree tells: shortest match, fixed widths, first bytes
//
// and two engines behind it. A Regexp is one expression, matched by itself. It tries alternatives in PCRE's order, so
// captures are PCRE's. It counts its steps and never looks at a clock: the same text always gives the same answer.
// Expressions made of classical syntax alone are matched in time linear in the text; those that Regexp.Backtracking names
// have a bound instead, and end with ErrTooComplex beyond it. Most of them never need their program, which is written on
// first use:
//
//	compile*.go  the tree to a program (program.go)
//	exec*.go     runs a program over a text (machine.go holds its state, memo.go keeps it linear)
//	replace.go   replace_pattern and PCRE's rules for empty matches
//
// A Set is many expressions, all found in one pass over the text, whose cost does not grow with their number. It takes
// those that Regexp.InSet names; the others have to be matched one by one. It is one automaton over all of them:
//
//	set_fit.go       which expressions it takes
//	set_elements.go  an expression to branches of elements, without what no match depends on
//	set_trie.go      branches to one nondeterministic automaton, in which common beginnings are shared
//	set_classes.go   bytes to classes, assertions to what they ask of two neighbours
//	set_nfa.go       the automaton, packed for searching
//	set_worker.go    one step of it, from a set of nodes to the next
//	set_states.go    sets of nodes seen so far, and the table that leads from one to the next for each class
//	set_search.go    a search: along the table, and by steps where it is not filled or full
//	set_light.go     which expressions have an outcome although a search for all gave up
//	find_within.go   a search for one expression with a bound of its own
//	found.go         what a search found
//
// The table is filled by the searches themselves, within SetOptions.MaxMemory, and dropped when it is full. Whether a
// search gives up depends on the expressions and the text alone, never on what the table holds. Those that it leaves
// without an outcome (Found.Knows) are matched by themselves, each by an automaton of its own.
//
// The package must not know rules or statements, and must do no I/O. Start at Compile, NewSet and ParseReplacement.
package pattern
