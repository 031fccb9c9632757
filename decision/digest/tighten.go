package digest

// tighten is the second pass: it drops blanks and signs from buf[from:to], in place, and returns the new end.
//
// It looks back at the buffer in which it moves bytes, not at a copy: while exactly one byte has been dropped, the
// place of the byte before the previous one has just been overwritten by the previous one. ProxySQL does so too.
func tighten(buf []byte, from, to int) int {
	w := from
	for r := from; r < to; r++ {
		c := buf[r]
		if c == ' ' && dropBlank(buf, r, to) || (c == '+' || c == '-') && dropSign(buf, r, to) {
			continue
		}
		buf[w] = c
		w++
	}
	return w
}

// dropBlank tells whether the blank at r goes: after ( and comma, before ) and comma, and between an arithmetic sign
// and a value.
func dropBlank(buf []byte, r, to int) bool {
	if r == 0 {
		return true
	}
	prev := buf[r-1]
	if prev == '(' || prev == ',' {
		return true
	}
	if r+1 == to {
		return false
	}
	next := buf[r+1]
	return next == ')' || next == ',' || prev == '?' && isArithmetic(next) || isArithmetic(prev) && next == '?'
}

// dropSign tells whether the + or - at r goes.
func dropSign(buf []byte, r, to int) bool {
	if r == 0 {
		return false
	}
	prev := buf[r-1]
	if prev == ' ' && r > 1 {
		prev = buf[r-2]
		if classes[prev]&word != 0 {
			return true
		}
	} else if classes[prev]&word != 0 {
		return false
	}
	if prev == ')' || prev == '?' {
		return false
	}
	return r+1 < to && (buf[r+1] == '?' || buf[r+1] == ' ')
}
