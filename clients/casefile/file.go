package casefile

import (
	"fmt"
	"strings"
)

// File is a parsed case file.
type File struct {
	// Path is the file's name as it was given.
	Path string
	// Cases are the cases in the file's order.
	Cases []*Case

	lines   []string          // with their line ends
	inline  map[string]string // configurations by the name of their section
	configs []string          // the names of inline, in the file's order
}

// Case is one case: statements of one session, problems of the configuration, or both.
type Case struct {
	// Name is unique in the file.
	Name string
	// Line is where the case begins, from 1.
	Line int

	config     string // the name of its configuration
	configLine int
	steps      []*step
	problems   []want // wanted problems of the configuration, in order
	wantsNone  bool   // "problem: unset"
}

// step is one statement of a case.
type step struct {
	line     int
	last     int       // the last line of the statement
	settings []setting // what changes in the session before it
	text     []byte
	wants    []want
}

// want is a line that names a field of the answer.
type want struct {
	line  int
	field string
	value string // as fields.go renders values; unset when nothing is wanted
}

// MistakesError holds all mistakes of case files, each as "file:line: what is wrong".
type MistakesError []string

// Error gives one mistake a line.
func (m MistakesError) Error() string { return strings.Join(m, "\n") }

func (f *File) mistake(line int, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", f.Path, line, fmt.Sprintf(format, args...))
}

// configOf gives the configuration of a case that names none.
func (f *File) configOf(given string) (name, mistake string) {
	switch {
	case given != "":
		return given, ""
	case len(f.configs) == 1:
		return f.configs[0], ""
	case len(f.configs) > 1:
		return "", "the file has several configurations; say which one by a line config: NAME"
	}
	return "", "no configuration; name one by a line config: FILE at the top, or add a section that is one, -- config.yaml --"
}
