package digest

// foldLists is the third pass: a list of n or more than n+1 values inside parentheses keeps its first n, then "...".
func foldLists(text []byte, n int) []byte {
	w := 0
	inside := false
	for r := 0; r < len(text); {
		c := text[r]
		if c == '?' && inside && !(r > 0 && (isArithmetic(text[r-1]) || text[r-1] == ')')) {
			end, count := listEnd(text, r)
			if count >= n+2 {
				for range n {
					w += copy(text[w:], "?,")
				}
				w += copy(text[w:], "...")
				r = end
				continue
			}
			if count > 0 {
				w += copy(text[w:], text[r:end])
				r = end
				continue
			}
		}
		inside = c == '(' || inside && c != ')'
		text[w] = c
		w++
		r++
	}
	return text[:w]
}

// listEnd counts the values of the list ?,?,? at r, each followed by a comma or ), and tells where the last one ends.
func listEnd(text []byte, r int) (end, count int) {
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
func foldGroups(text []byte, n, m int) []byte {
	size := 2*n + 5 // "(", n times "?,", "...)"
	w := 0
	for r := 0; r < len(text); {
		if text[r] != '(' || !isGroup(text[r:], n) {
			text[w] = text[r]
			w++
			r++
			continue
		}
		end, count := r+size, 1
		for end+1 < len(text) && text[end] == ',' && isGroup(text[end+1:], n) {
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
func isGroup(text []byte, n int) bool {
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
