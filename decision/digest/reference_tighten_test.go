package digest

// tighten is the second pass: it drops blanks and signs from buf[from:to], in place, and returns the new end.
//
// It looks back at the buffer in which it moves bytes, not at a copy: while exactly one byte has been dropped, the
// place of the byte before the previous one has just been overwritten by the previous one. ProxySQL does so too.
func refTighten(buf []byte, from, to int) int {
	buf = buf[:to]
	w := from
	for r := from; r < len(buf); r++ {
		c := buf[r]
		if refClasses[c]&refSqueeze != 0 && (c == ' ' && refDropBlank(buf, r) || c != ' ' && refDropSign(buf, r)) {
			continue
		}
		buf[w] = c
		w++
	}
	return w
}

// refDropBlank tells whether the blank at r goes: after ( and comma, before ) and comma, and between an arithmetic sign
// and a value.
func refDropBlank(buf []byte, r int) bool {
	prev, next := buf[r-1], byte(' ') // The first pass never puts a blank first.
	if r+1 < len(buf) {
		next = buf[r+1]
	}
	if (refClasses[prev]|refClasses[next])&refEdge == 0 {
		return false
	}
	return prev == '(' || prev == ',' || next == ')' || next == ',' ||
		prev == '?' && refIsArithmetic(next) || refIsArithmetic(prev) && next == '?'
}

// refDropSign tells whether the + or - at r goes.
func refDropSign(buf []byte, r int) bool {
	if r == 0 {
		return false
	}
	prev := buf[r-1]
	if prev == ' ' && r > 1 {
		prev = buf[r-2]
		if refClasses[prev]&refWord != 0 {
			return true
		}
	} else if refClasses[prev]&refWord != 0 {
		return false
	}
	if prev == ')' || prev == '?' {
		return false
	}
	return r+1 < len(buf) && (buf[r+1] == '?' || buf[r+1] == ' ')
}
