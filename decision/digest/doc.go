// Package digest turns the text of a statement into its digest text and its 64-bit digest.
//
// There are two ways. The compatible one gives what ProxySQL 2.7 gives, byte for byte: rules (digest, match_digest),
// caches and statistics of a fleet name statements by these two, so its oddities are kept, and each one has a comment.
// The corrected one follows MySQL's rules for literals, names and comments; docs/digests.md compares them. Both look at
// each byte of a statement about once and allocate nothing when the Buffer is large enough:
//
//	compatible*.go  what ProxySQL does in four steps, in one
//	corrected*.go   the corrected digest
//	run.go          copies the bytes between the tokens that matter, for both
//	list*.go        fold lists of values, and rows of such lists, while the text grows
//	class.go, literal.go, lanes.go  what bytes are, where literals end, eight bytes at a time
//	spooky.go       the hash
//	name.go         digests as texts
//
// The four steps one by one, in reference*_test.go, are what the compatible digest is tested against.
//
// It must not know rules or sessions, must not parse SQL, and keeps no state but the caller's Buffer. What the first
// comment asks for is read elsewhere. Start at Compute.
package digest
