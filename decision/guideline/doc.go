// Package guideline is the language of MySQL Router's routing guidelines: expressions over what is known of the router,
// a server and a session, and documents that put servers into classes and send sessions on routes by them.
//
// An expression's way:
//
//	scan.go         text to tokens
//	parse.go        tokens to operations, with a stack of its own
//	check.go        the types of each operation, and the texts of what is wrong (place.go says where)
//	fold.go         what is constant is computed
//	tree.go         the tree that comes of it; variables.go and builtins.go have its variables, functions.go its functions
//	walk.go         evaluates the tree: the plain meaning, for Eval, DryRun and Explain (trace.go)
//	program.go      the compiled form that decisions use: tests that say where to go on; compile*.go make it of the tree
//	like.go, ecma*.go, address.go, tag.go   what LIKE, REGEXP_LIKE, addresses and tags mean
//
// A test holds the walk and the compiled form equal over random expressions.
//
// A document's way: json*.go reads it, schema*.go and document*.go check it and collect every problem, route.go, classify.go
// and tiers.go decide by it, preview*.go and explain.go show what it does.
//
// The package is pure: names, addresses, the state of servers and random values come in as [Facts]. What it compiles is
// never changed afterwards and may be used by many goroutines.
//
// # Differences from MySQL Router
//
// What the Router does by defect is not copied: LIKE has its standard meaning whatever the length of a pattern, a character of
// several bytes is one character, SUBSTRING_INDEX counts as MySQL does, server.version is MMmmpp, and tags of documents above
// version 1.0 are compared as the JSON values that they are, on either side and with every operator.
//
// REGEXP_LIKE takes ECMAScript's syntax as far as it can be matched in time linear in the text, by Go's engine: look-ahead,
// look-behind and back-references are refused, so are unknown escapes of letters and a { that no count follows. Case is
// folded for ASCII letters only, and \d, \w, \s and \b know ASCII only. A repetition has a count of at most 1,000, also
// with those inside it multiplied.
package guideline
