package digest

// lists folds lists of values while a text grows: a run of at least keep+2 values inside parentheses keeps its first
// ones, then "...". Of more than groups such lists in a row the first stay, then ",...".
//
// Inside parentheses means after a ( with no ) since, so a list is not folded behind an inner pair. A value right behind
// an arithmetic sign or a ) starts no run.
//
// Places in the text are lengths of the text at the time; none stands for no place.
type lists struct {
	keep   int // Values that stay.
	groups int // Folded lists that stay; 0: all.

	inside bool
	count  int // Values of the run, each with a comma or ) behind it.
	value  int // Behind the latest value of the run, until it is counted.
	comma  int // Behind the comma of the latest counted value.

	row  int  // Folded lists in a row.
	end  int  // Behind the latest of them.
	lost bool // The comma there was lost.
}

const none = -1

func newLists(keep, groups, limit int) lists {
	keep = max(0, min(keep, limit))
	if keep == 0 {
		groups = 0
	}
	return lists{keep: keep, groups: groups, value: none, comma: none, end: none}
}

// addValue is told that a value is put at w.
func (l *lists) addValue(buf []byte, w int) {
	if w != l.comma {
		if !l.inside || isArithmetic(buf[w-1]) || buf[w-1] == ')' {
			l.value = none
			return
		}
		l.count = 0
	}
	l.value = w + 1
}

// addComma puts a comma and returns the length of the text.
func (l *lists) addComma(buf []byte, w int) int {
	switch w {
	case l.value:
		w = l.fold(buf, w)
		l.comma = w + 1
	case l.end:
		// ProxySQL loses the comma behind the lists that it leaves out.
		if l.row > l.groups && !l.lost {
			l.lost = true
			return w
		}
	}
	buf[w] = ','
	return w + 1
}

// addClose puts a closing parenthesis and returns the length of the text.
func (l *lists) addClose(buf []byte, w int) int {
	if w == l.value {
		w = l.fold(buf, w)
	}
	l.inside, l.comma = false, none
	buf[w] = ')'
	w++
	if l.groups > 0 && w > 1 && buf[w-2] == '.' {
		w = l.foldGroup(buf, w)
	}
	return w
}

// fold counts the value that the text ends with. The first one too many makes ..., and those behind it go.
func (l *lists) fold(buf []byte, w int) int {
	l.value = none
	l.count++
	switch {
	case l.count == l.keep+2:
		copy(buf[w-3:w], "...")
	case l.count > l.keep+2:
		w -= 2
	}
	return w
}

// foldGroup looks whether the text ends with a folded list.
func (l *lists) foldGroup(buf []byte, w int) int {
	start := w - (2*l.keep + 5) // "(", keep times "?,", "...)"
	if start < 0 || !isGroup(buf[start:w]) {
		return w
	}
	if l.row > l.groups && l.lost && start == l.end || l.row <= l.groups && l.end > 0 && start == l.end+1 && buf[l.end] == ',' {
		l.row++
	} else {
		l.row = 1
	}
	switch {
	case l.row > l.groups+1:
		w = start
	case l.row > l.groups:
		w = start + copy(buf[start:], "...")
	}
	l.end, l.lost = w, false
	return w
}

// isGroup tells whether text, which ends with .), is a folded list of values in parentheses.
func isGroup(text []byte) bool {
	last := len(text) - 4
	if text[0] != '(' || string(text[last:]) != "...)" {
		return false
	}
	for k := 1; k < last; k += 2 {
		if text[k] != '?' || text[k+1] != ',' {
			return false
		}
	}
	return true
}

// finish returns the length that the text, of length w, has in the end: ProxySQL loses the comma behind a folded list
// that is not closed.
func (l *lists) finish(w int) int {
	if w == l.comma && l.count >= l.keep+2 {
		w--
	}
	return w
}
