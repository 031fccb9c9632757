package digest

// Options are ProxySQL's mysql-query_digests_* variables, without the prefix. The names in the comments are ProxySQL's.
type Options struct {
	MaxQueryLength      int  // max_query_length: bytes that a text may grow to before its lists are folded
	MaxDigestLength     int  // max_digest_length: bytes of the text that are hashed; the text itself is not cut
	Lowercase           bool // lowercase: A-Z outside of comments become a-z
	ReplaceNull         bool // replace_null: NULL becomes ?
	NoDigits            bool // no_digits: a run of digits inside a word becomes ?
	KeepComment         bool // keep_comment: comments of the form /* */ stay in the text
	GroupingLimit       int  // grouping_limit: values kept of a list in parentheses
	GroupsGroupingLimit int  // groups_grouping_limit: folded lists kept of a sequence of them; 0 keeps all
	Corrected           bool // digest_mode corrected: known defects are mended, see docs/digests.md
}

// DefaultOptions returns the values that a fresh ProxySQL 2.7 has.
func DefaultOptions() Options {
	return Options{MaxQueryLength: 65000, MaxDigestLength: 2048, GroupingLimit: 3, GroupsGroupingLimit: 10}
}

// Result is what Compute found out about one statement. Text and FirstComment belong to the Buffer and are valid
// until its next use.
type Result struct {
	Text         []byte // The digest text, in full.
	FirstComment []byte // Body of the first /* */ comment, at most 1,021 bytes, each tab and line end a space.
	HasComment   bool   // Tells an empty first comment from none.
	Hash         uint64 // Hash of Text.
}

// Buffer is scratch space for Compute. The zero value is ready; reuse one to avoid allocations. It must not be used by
// two goroutines at once.
type Buffer struct {
	text    []byte
	comment []byte
}

// Compute makes the digest of one statement, byte for byte as ProxySQL 2.7 does, its oddities included: rules and
// statistics of a fleet name digests by their hash, so an improvement here would orphan them. Unlike ProxySQL it uses
// the bytes behind a NUL, and limits above 127 mean what they say. It takes time linear in the length of sql.
func Compute(b *Buffer, sql []byte, o *Options) Result {
	s := scanner{sql: sql, o: o, limit: max(0, min(o.MaxQueryLength, len(sql))), comment: b.comment[:0]}
	if len(b.text) < s.limit {
		b.text = make([]byte, s.limit)
	}
	s.buf = b.text[:s.limit]
	n := 0
	// The first pass fills the text up to the limit. What the second pass wins by dropping blanks and signs is room
	// for more of the statement.
	for {
		done := s.scan(n)
		n = tighten(s.buf, n, s.w)
		if done || n == s.w {
			break
		}
	}
	b.comment = s.comment
	text := s.buf[:n]
	values := max(0, min(o.GroupingLimit, len(text)))
	text = foldLists(text, values)
	if o.GroupsGroupingLimit > 0 {
		text = foldGroups(text, values, o.GroupsGroupingLimit)
	}
	text = trimEnd(text)
	return Result{Text: text, FirstComment: s.comment, HasComment: s.hasComment, Hash: Hash(text, o.MaxDigestLength)}
}

// trimEnd cuts blanks and semicolons off the end. A lone semicolon stays.
func trimEnd(text []byte) []byte {
	n := len(text)
	for n > 0 && (text[n-1] == ' ' || text[n-1] == ';' && n > 1) {
		n--
	}
	return text[:n]
}
