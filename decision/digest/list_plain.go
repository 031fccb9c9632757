package digest

import "bytes"

// plainLists folds lists of values without ProxySQL's oddities: in any depth of parentheses, where a value is all that
// stands between two of ( , and ). Of more than groups equal lists of nothing but values in a row the first stay, then
// ",...".
type plainLists struct {
	lists
	depth int
	open  int // The latest parenthesis.
	start int // The first value of the run.
	first int // The first list of the row.
	size  int // Length of each of them.
}

func (l *plainLists) addOpen(w int) {
	l.depth++
	l.open = w
}

func (l *plainLists) addValue(buf []byte, w int) {
	if w != l.comma {
		if l.depth == 0 || buf[w-1] != '(' && buf[w-1] != ',' {
			l.value = none
			return
		}
		l.count, l.start = 0, w
	}
	l.value = w + 1
}

func (l *plainLists) addComma(buf []byte, w int) int {
	if w == l.value {
		w = l.fold(buf, w)
		l.comma = w + 1
	}
	buf[w] = ','
	return w + 1
}

func (l *plainLists) addClose(buf []byte, w int) int {
	whole := w == l.value && l.start == l.open+1
	if w == l.value {
		w = l.fold(buf, w)
	}
	l.comma, l.depth = none, max(0, l.depth-1)
	buf[w] = ')'
	w++
	if whole && l.groups > 0 {
		w = l.foldGroup(buf, w)
	}
	return w
}

// foldGroup handles a list of nothing but values, which the text ends with.
func (l *plainLists) foldGroup(buf []byte, w int) int {
	start := l.open
	if l.row > 0 && start == l.end+1 && buf[l.end] == ',' && bytes.Equal(buf[start:w], buf[l.first:l.first+l.size]) {
		l.row++
	} else {
		l.row, l.first, l.size = 1, start, w-start
	}
	switch {
	case l.row > l.groups+1:
		w = l.end
	case l.row > l.groups:
		w = start + copy(buf[start:], "...")
	}
	l.end = w
	return w
}
