package guideline

import "strconv"

// Problem is one thing wrong with a document.
type Problem struct {
	Path       string // where in the document, such as "routes[2].match"; empty: the document as a whole
	Text       string // the whole entry, path included, as MySQL Router words it
	Expression string // the rule that it is about, if it is about one
	Start, End int    // the bytes of Expression at fault; -1 when there are none
}

// problemList collects problems up to its limits.
type problemList struct {
	list  []Problem
	bytes int
	full  bool
}

// add notes a problem with a place of the document, or with the whole for an empty path.
func (l *problemList) add(path, text string) {
	l.addRule(path, text, "", -1, -1)
}

// last notes a problem behind which nothing is looked at any more.
func (l *problemList) last(path, text string) {
	l.add(path, text)
	l.full = true
}

// addRule notes a problem with a rule and the part of it at fault.
func (l *problemList) addRule(path, text, rule string, start, end int) {
	if l.full {
		return
	}
	if path != "" {
		text = path + ": " + text
	}
	l.bytes += len(text)
	if len(l.list) == maxProblems || l.bytes > maxProblemBytes {
		l.full = true
		path, rule, start, end = "", "", -1, -1
		text = "there are more problems; the list ends after " + strconv.Itoa(len(l.list)) +
			", its limits are " + strconv.Itoa(maxProblems) + " entries and " + strconv.Itoa(maxProblemBytes) + " bytes"
	}
	l.list = append(l.list, Problem{Path: path, Text: text, Expression: rule, Start: start, End: end})
}
