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

// Compute makes the digest of one statement, in time linear in its length.
//
// The compatible digest is that of ProxySQL 2.7, byte for byte and oddities included: rules and statistics of a fleet
// name digests by their hash, so an improvement here would orphan them. Unlike ProxySQL it uses the bytes behind a NUL,
// and limits above 127 mean what they say. The corrected digest is free of the oddities; there MaxQueryLength is the
// length of the folded text, and what does not fit as a whole is left out.
func Compute(b *Buffer, sql []byte, o *Options) Result {
	var text []byte
	var comment firstComment
	if o.Corrected {
		// Each pair of dashes is taken apart, and a comment that is kept stands between blanks.
		limit := max(0, min(o.MaxQueryLength, 2*len(sql)))
		p := corrected{
			o: o, sql: sql, buf: b.grow(limit), limit: limit,
			lists:   plainLists{lists: newLists(o.GroupingLimit, o.GroupsGroupingLimit, limit)},
			comment: firstComment{body: b.comment[:0]},
		}
		text, comment = p.text(), p.comment
	} else {
		limit := max(0, min(o.MaxQueryLength, len(sql)))
		p := compatible{
			o: o, sql: sql, buf: b.grow(limit), limit: limit,
			lists:   newLists(o.GroupingLimit, o.GroupsGroupingLimit, limit),
			comment: firstComment{body: b.comment[:0]},
		}
		text, comment = p.text(), p.comment
	}
	b.comment = comment.body
	text = trimEnd(text)
	return Result{Text: text, FirstComment: comment.body, HasComment: comment.found, Hash: Hash(text, o.MaxDigestLength)}
}

// grow returns the space for a text of up to limit bytes, and some more.
func (b *Buffer) grow(limit int) []byte {
	if len(b.text) < limit+slack {
		b.text = make([]byte, limit+slack)
	}
	return b.text
}

// trimEnd cuts blanks and semicolons off the end. A lone semicolon stays.
func trimEnd(text []byte) []byte {
	n := len(text)
	for n > 0 && (text[n-1] == ' ' || text[n-1] == ';' && n > 1) {
		n--
	}
	return text[:n]
}
