// Package lint finds what a valid configuration says and nobody can have meant: rules that are never reached,
// destinations that are overridden, splits that send locking reads to replicas.
//
// It is a pure function of a configuration, reports and changes nothing. What is wrong enough to be refused is
// decision.Compile's to say; lint begins where that ends. Each code is explained in docs/lint.md.
//
// Start with [Check]. walks.go finds out which rules a walk can reach, cover.go which rules match whatever another one
// matches, expression.go what an expression certainly needs, subsume.go which expressions match whatever another one
// does, endings.go which rules keep fast routes from being looked up, statements.go where typical statements go, guideline.go which classes
// and routes of the guideline in force never match.
package lint
