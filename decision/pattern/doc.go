// Package pattern compiles one regular expression of a query rule, matches texts with it, and rewrites them.
//
// An expression means what it means to ProxySQL's default engine, PCRE without UTF mode: texts are bytes, folding of
// case and \w, \d, \s and \b know ASCII only, `$` also holds before a final newline, and `.` crosses everything but a
// newline. Go's regexp differs in each of these and lacks half of the syntax, so the package has its own reader and its
// own engine:
//
//	parse*.go    the expression to a small tree of byte sets (tree.go, set.go)
//	analyze.go   what the tree tells: shortest match, fixed widths, first bytes
//	compile*.go  the tree to a program (program.go)
//	exec*.go     runs a program over a text (machine.go holds its state, memo.go keeps it linear)
//	replace.go   replace_pattern and PCRE's rules for empty matches
//
// The engine tries alternatives in PCRE's order, so captures are PCRE's. It counts its steps and never looks at a clock:
// the same text always gives the same answer. Expressions made of classical syntax alone are matched in time linear in
// the text; those that Regexp.Backtracking names have a bound instead, and end with ErrTooComplex beyond it.
//
// The package must not know rules or statements, and must do no I/O. Start at Compile and ParseReplacement.
package pattern
