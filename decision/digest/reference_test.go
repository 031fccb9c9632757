package digest

// reference is the digest in four plain passes over the text, against which the single pass of Compute is tested.
func reference(sql []byte, o *Options) Result {
	s := refScanner{sql: sql, o: o, limit: max(0, min(o.MaxQueryLength, len(sql)))}
	s.buf = make([]byte, s.limit)
	n := 0
	// The first pass fills the text up to the limit. What the second pass wins by dropping blanks and signs is room
	// for more of the statement.
	for {
		done := s.scan(n)
		n = refTighten(s.buf, n, s.w)
		if done || n == s.w {
			break
		}
	}
	text := s.buf[:n]
	values := max(0, min(o.GroupingLimit, len(text)))
	text = refFoldLists(text, values)
	if o.GroupsGroupingLimit > 0 {
		text = refFoldGroups(text, values, o.GroupsGroupingLimit)
	}
	text = refTrimEnd(text)
	return Result{Text: text, FirstComment: s.comment, HasComment: s.hasComment, Hash: Hash(text, o.MaxDigestLength)}
}

func refTrimEnd(text []byte) []byte {
	n := len(text)
	for n > 0 && (text[n-1] == ' ' || text[n-1] == ';' && n > 1) {
		n--
	}
	return text[:n]
}
