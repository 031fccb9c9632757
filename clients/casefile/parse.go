package casefile

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Unset is the value of a field that the answer does not have.
const Unset = "unset"

var (
	sectionLine = regexp.MustCompile(`^-- (.*\S) --$`)
	fieldLine   = regexp.MustCompile(`^([a-z_.]+):(?: +(.*))?$`)
	configName  = regexp.MustCompile(`\.(yaml|yml|json)$`)
)

// byteOrderMark begins the files of some editors.
const byteOrderMark = "\ufeff"

// Parse reads a case file; path is its name. The error is a MistakesError: all of them.
func Parse(path string, raw []byte) (*File, error) {
	p := parser{file: &File{Path: path, inline: make(map[string]string)}, names: make(map[string]int)}
	for line := range bytes.Lines(raw) {
		p.file.lines = append(p.file.lines, string(line))
	}
	for i, line := range p.file.lines {
		p.number = i + 1
		if i == 0 {
			line = strings.TrimPrefix(line, byteOrderMark)
		}
		p.line(line)
	}
	p.endCase()
	f := p.file
	for _, c := range f.Cases {
		var mistake string
		if c.config, mistake = f.configOf(c.config); mistake != "" {
			p.mistakes = append(p.mistakes, f.mistake(c.Line, "case %q: %s", c.Name, mistake))
		}
	}
	if len(f.Cases) == 0 && len(p.mistakes) == 0 {
		p.mistakes = append(p.mistakes, f.mistake(1, "no cases; one begins with a line -- NAME --"))
	}
	if len(p.mistakes) > 0 {
		return nil, p.mistakes
	}
	return f, nil
}

type parser struct {
	file     *File
	mistakes MistakesError
	number   int            // of the current line
	names    map[string]int // lines of sections by name

	section    string // inline configuration that is being read; empty: none
	config     string // of the file
	configLine int
	defaults   []setting

	current *Case
	pending []setting // of the next statement
	open    bool      // the previous line belongs to a statement that goes on
}

func (p *parser) mistake(format string, args ...any) {
	p.mistakes = append(p.mistakes, p.file.mistake(p.number, format, args...))
}

func (p *parser) line(raw string) {
	line := strings.TrimSuffix(raw, lineEnd(raw))
	if m := sectionLine.FindStringSubmatch(line); m != nil {
		p.begin(m[1])
		return
	}
	if p.section != "" {
		p.file.inline[p.section] += raw
		return
	}
	goesOn := p.open
	p.open = false
	switch {
	case strings.HasPrefix(line, ">"):
		p.statement(line[1:], goesOn)
	case strings.TrimSpace(line) == "" || line[0] == '#':
	default:
		m := fieldLine.FindStringSubmatch(line)
		if m == nil {
			p.mistake("neither a comment (#), a statement (> SELECT ...), a field (name: value) nor a section (-- name --)")
			return
		}
		value, err := readValue(m[2])
		if err != "" {
			p.mistake("%s: %s", m[1], err)
			return
		}
		p.field(m[1], value)
	}
}

// begin starts a section: an inline configuration or a case.
func (p *parser) begin(name string) {
	p.endCase()
	p.section, p.open = "", false
	if line, dup := p.names[name]; dup {
		p.mistake("there is a section %q in line %d already; give one of the two another name", name, line)
	}
	p.names[name] = p.number
	if configName.MatchString(name) {
		p.section = name
		if _, dup := p.file.inline[name]; !dup {
			p.file.configs = append(p.file.configs, name)
		}
		p.file.inline[name] = ""
		return
	}
	p.current = &Case{Name: name, Line: p.number, config: p.config, configLine: p.configLine}
	p.pending = slices.Clone(p.defaults)
	p.file.Cases = append(p.file.Cases, p.current)
}

func (p *parser) endCase() {
	c := p.current
	p.current = nil
	switch {
	case c == nil:
	case len(c.steps) == 0 && len(c.problems) == 0 && !c.wantsNone:
		p.mistakes = append(p.mistakes, p.file.mistake(c.Line, "case %q has no statement; write > and the text", c.Name))
	case len(c.steps) > 0 && len(p.pending) > 0:
		p.mistakes = append(p.mistakes, p.file.mistake(p.pending[len(p.pending)-1].line, "a session field after the last statement of case %q has no effect; put it before the statement", c.Name))
	}
	p.pending = nil
}

func (p *parser) statement(rest string, goesOn bool) {
	c := p.current
	if c == nil {
		p.mistake("a statement outside of a case; begin one with a line -- NAME --")
		return
	}
	quoted := strings.HasPrefix(rest, `"`)
	text := strings.TrimPrefix(rest, " ")
	if quoted {
		var err error
		if text, err = strconv.Unquote(rest); err != nil {
			p.mistake(`the quoted statement can't be read; write >"..." with \", \\, \n, \t and \xHH inside`)
			return
		}
	} else if rest != "" && rest[0] != ' ' {
		p.mistake("no blank after >")
		return
	}
	if goesOn {
		s := c.steps[len(c.steps)-1]
		if quoted {
			p.mistake("a quoted statement stands in one line; put an empty line or the wanted fields before it")
			return
		}
		s.text = append(append(s.text, '\n'), text...)
		s.last = p.number
	} else {
		c.steps = append(c.steps, &step{line: p.number, last: p.number, settings: p.pending, text: []byte(text)})
		p.pending = nil
	}
	p.open = !quoted
}

// field reads what stands in a line of the form "name: value".
func (p *parser) field(name, value string) {
	c := p.current
	if set := sessionFields[name]; set != nil {
		s, err := set(value)
		if err != "" {
			p.mistake("%s: %s", name, err)
			return
		}
		s.line = p.number
		if c == nil {
			p.defaults = append(p.defaults, s)
		} else {
			p.pending = append(p.pending, s)
		}
		return
	}
	switch {
	case name == "config" && c == nil:
		p.config, p.configLine = value, p.number
	case name == "config":
		if len(c.steps) > 0 {
			p.mistake("config stands before the first statement of a case")
		}
		c.config, c.configLine = value, p.number
	case c == nil:
		p.mistake("%s is no field of the session (%s) and not config", name, sessionNames())
	case name == "problem":
		p.problem(c, value)
	default:
		p.want(c, name, value)
	}
}

func (p *parser) problem(c *Case, value string) {
	if len(c.steps) > 0 {
		p.mistake("problem stands before the first statement of a case")
		return
	}
	if value == Unset {
		c.wantsNone = true
	} else if len(strings.Fields(value)) != 3 {
		p.mistake("problem: want severity, code and path, as in: problem: error bad_digest query_rules[0].digest")
		return
	}
	if c.wantsNone && (value != Unset || len(c.problems) > 0) {
		p.mistake("problem: %s says that there are none, yet there are others", Unset)
		return
	}
	c.problems = append(c.problems, want{line: p.number, field: "problem", value: strings.Join(strings.Fields(value), " ")})
}

func (p *parser) want(c *Case, name, value string) {
	if len(c.steps) == 0 {
		p.mistake("%s is no field of the session (%s); fields of the answer stand behind a statement", name, sessionNames())
		return
	}
	value, err := readWant(name, value)
	if err != "" {
		p.mistake("%s", err)
		return
	}
	s := c.steps[len(c.steps)-1]
	if len(p.pending) > 0 {
		p.mistake("%s is wanted of the statement in line %d, but stands behind a session field of the next one", name, s.line)
		return
	}
	if i := slices.IndexFunc(s.wants, func(w want) bool { return w.field == name }); i >= 0 {
		p.mistake("%s is already in line %d", name, s.wants[i].line)
		return
	}
	s.wants = append(s.wants, want{line: p.number, field: name, value: value})
}
