package digest

import "bytes"

// foldLists is the third pass, in place: a run of at least n+2 values inside parentheses keeps its first n, then
// "...". Inside parentheses means after a ( with no ) since, so a list is not folded behind an inner pair. A value right
// behind an arithmetic sign or a ) starts no run.
func refFoldLists(text []byte, n int) []byte {
	if bytes.Count(text, []byte("?")) < n+2 {
		return text
	}
	w, r := 0, 0
	inside := false
	for {
		// All runs that matter have at least two values.
		start := bytes.Index(text[r:], []byte("?,?"))
		if start < 0 {
			break
		}
		start += r
		if k := refLastParenthesis(text[r:start]); k >= 0 {
			inside = text[r+k] == '('
		}
		end, count := start+1, 0
		if inside && !refIsArithmetic(text[start-1]) && text[start-1] != ')' {
			end, count = refListEnd(text, start)
		}
		if count < n+2 {
			w += refMove(text, w, r, end)
			r = end
			continue
		}
		w += refMove(text, w, r, start+2*n)
		w += copy(text[w:], "...")
		r = end
	}
	w += refMove(text, w, r, len(text))
	return text[:w]
}

// move copies text[from:to] down to w and returns its length.
func refMove(text []byte, w, from, to int) int {
	if w < from {
		copy(text[w:], text[from:to])
	}
	return to - from
}

// lastParenthesis finds the last ( or ), or gives -1.
func refLastParenthesis(text []byte) int {
	k := len(text) - 1
	for k >= 0 && text[k] != '(' && text[k] != ')' {
		k--
	}
	return k
}

// listEnd counts the values of the list ?,?,? at r, each followed by a comma or ), and tells where the last one ends.
func refListEnd(text []byte, r int) (end, count int) {
	end = r
	for r < len(text) && text[r] == '?' && r+1 < len(text) {
		switch text[r+1] {
		case ')':
			return r + 1, count + 1
		case ',':
			count++
			end = r + 1
			r += 2
			if r == len(text) {
				return r, count
			}
		default:
			return end, count
		}
	}
	return end, count
}

// foldGroups is the fourth pass: of more than m folded lists in a row the first m stay, then ",...". The comma behind
// them is lost, as in ProxySQL.
func refFoldGroups(text []byte, n, m int) []byte {
	if n == 0 {
		return text
	}
	size := 2*n + 5 // "(", n times "?,", "...)"
	w := 0
	for r := 0; r < len(text); {
		if text[r] != '(' || !refIsGroup(text[r:], n) {
			text[w] = text[r]
			w++
			r++
			continue
		}
		end, count := r+size, 1
		for end+1 < len(text) && text[end] == ',' && refIsGroup(text[end+1:], n) {
			end += 1 + size
			count++
		}
		if count <= m {
			w += copy(text[w:], text[r:end])
			r = end
			continue
		}
		w += copy(text[w:], text[r:r+m*(size+1)])
		w += copy(text[w:], "...")
		if end < len(text) && text[end] == ',' {
			end++
		}
		r = end
	}
	return text[:w]
}

// isGroup tells whether text starts with a folded list of n values in parentheses.
func refIsGroup(text []byte, n int) bool {
	if len(text) < 2*n+5 || text[0] != '(' {
		return false
	}
	for k := range n {
		if text[1+2*k] != '?' || text[2+2*k] != ',' {
			return false
		}
	}
	return string(text[1+2*n:2*n+5]) == "...)"
}
