// Package digest turns the text of a statement into its digest text and its 64-bit digest, as ProxySQL 2.7 does.
//
// Rules (digest, match_digest), caches and statistics name statements by these two, so they must agree with ProxySQL
// byte for byte. The package therefore keeps ProxySQL's oddities, and each one has a comment. It works on bytes in
// four passes, all linear in the length of the text:
//
//	scan.go     literals become ?, comments and superfluous blanks go
//	tighten.go  blanks and signs around values go
//	fold.go     long lists of values, and then sequences of such lists, are folded
//
// and hashes the result (spooky.go). name.go reads and writes digests as texts.
//
// It must not know rules or sessions, must not parse SQL, and keeps no state but the caller's Buffer. What the first
// comment asks for is read elsewhere. Start at Compute.
package digest
