package clients

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// step is one line of the script: a statement (op "query", "raw" or "stream") or a call of the API.
type step struct {
	op     string
	name   string  // Of the prepared statement, of the schema, of the user.
	text   bytesOf // The statement.
	params []param
}

// param is a parameter of a prepared statement.
type param struct {
	kind byte // n: NULL, i: integer, d: decimal, s: text, b: binary
	text bytesOf
}

// bytesOf describes bytes that may be many: pieces one after another.
type bytesOf []piece

// piece is literal, or n bytes of text or of all values.
type piece struct {
	literal string
	kind    byte // x: literal, g: text, h: all values
	n       int
}

// encode is the form in which clients read bytes: x:HEX, g:N and h:N joined by +.
func (b bytesOf) encode() string {
	var out []string
	for _, p := range b {
		if p.kind == 'x' {
			out = append(out, "x:"+hex.EncodeToString([]byte(p.literal)))
		} else {
			out = append(out, fmt.Sprintf("%c:%d", p.kind, p.n))
		}
	}
	return strings.Join(out, "+")
}

// bytes are the bytes themselves, as clients make them.
func (b bytesOf) bytes() []byte {
	var out []byte
	for _, p := range b {
		switch p.kind {
		case 'x':
			out = append(out, p.literal...)
		case 'g':
			out = append(out, strings.Repeat("0123456789abcdef", p.n/16+1)[:p.n]...)
		case 'h':
			all := make([]byte, 256)
			for i := range all {
				all[i] = byte(i)
			}
			out = append(out, strings.Repeat(string(all), p.n/256+1)[:p.n]...)
		}
	}
	return out
}

// encode is the step as a line of the file that clients read: fields separated by tabs, the first one being the
// operation.
func (s step) encode() string {
	fields := []string{s.op}
	if s.name != "" {
		fields = append(fields, s.name)
	}
	if s.text != nil {
		fields = append(fields, s.text.encode())
	}
	for _, p := range s.params {
		fields = append(fields, string(p.kind)+"="+p.text.encode())
	}
	return strings.Join(fields, "\t")
}

// readScript reads testdata/script.txt.
func readScript(tb testing.TB, full bool) []step {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "script.txt"))
	if err != nil {
		tb.Fatal(err)
	}
	steps, err := parseScript(string(text), full)
	if err != nil {
		tb.Fatalf("script.txt: %v", err)
	}
	return steps
}

// parseScript parses a script. In `.for A B / C` ... `.end` the lines between are repeated with each value for $n; those
// behind the slash count only in the full form.
func parseScript(text string, full bool) ([]step, error) {
	var out []step
	lines := strings.Split(strings.ReplaceAll(text, "\n ", "\x00 "), "\n")
	var values []string
	var body []string
	inside := false
	for _, line := range lines {
		line = strings.ReplaceAll(line, "\x00", "\n")
		list, isFor := strings.CutPrefix(line, ".for ")
		switch {
		case isFor:
			short, long, _ := strings.Cut(list, "/")
			values, body, inside = strings.Fields(short), nil, true
			if full {
				values = append(values, strings.Fields(long)...)
			}
		case line == ".end":
			inside = false
			for _, v := range values {
				for _, l := range body {
					s, err := parseLine(strings.ReplaceAll(l, "$n", v))
					if err != nil {
						return nil, err
					}
					out = append(out, s)
				}
			}
		case line == "" || strings.HasPrefix(line, "# "):
		case inside:
			body = append(body, line)
		default:
			s, err := parseLine(line)
			if err != nil {
				return nil, err
			}
			out = append(out, s)
		}
	}
	return out, nil
}

func parseLine(line string) (step, error) {
	if !strings.HasPrefix(line, ".") {
		text, err := parseText(line)
		return step{op: "query", text: text}, err
	}
	op, rest, _ := strings.Cut(line[1:], " ")
	s := step{op: op}
	var err error
	switch op {
	case "raw", "stream":
		s.text, err = parseText(rest)
	case "empty":
		s.op, s.text = "query", bytesOf{{kind: 'x'}}
	case "prepare":
		name, statement, _ := strings.Cut(rest, " ")
		s.name = name
		s.text, err = parseText(statement)
	case "execute", "cursor", "long":
		name, params, _ := strings.Cut(rest, " ")
		s.name = name
		s.params, err = parseParams(params)
	case "use", "charset", "close", "autocommit":
		s.name = rest
	case "user":
		user, schema, _ := strings.Cut(rest, " ")
		s.name = user + "\t" + schema
	case "ping", "reset", "begin", "commit", "rollback", "warnings":
	default:
		err = fmt.Errorf("%q: unknown operation", line)
	}
	return s, err
}

var placeholder = regexp.MustCompile(`%(b?)\{(=?)(\d+)\}`)

// parseText replaces %{n}, %b{n} and %{=n}.
func parseText(text string) (bytesOf, error) {
	var out bytesOf
	at := 0
	for _, m := range placeholder.FindAllStringSubmatchIndex(text, -1) {
		if m[0] > at {
			out = append(out, piece{literal: text[at:m[0]], kind: 'x'})
		}
		n, err := strconv.Atoi(text[m[6]:m[7]])
		if err != nil {
			return nil, fmt.Errorf("%q: %w", text, err)
		}
		if m[5] > m[4] {
			n -= len(text) - (m[1] - m[0])
		}
		kind := byte('g')
		if m[3] > m[2] {
			kind = 'h'
		}
		out = append(out, piece{kind: kind, n: n})
		at = m[1]
	}
	if at < len(text) {
		out = append(out, piece{literal: text[at:], kind: 'x'})
	}
	return out, nil
}

var (
	word   = regexp.MustCompile(`^(?:x?'(?:[^'\\]|\\.)*'|[^ ']+)`)
	number = regexp.MustCompile(`^-?\d+$`)
)

// parseParams parses NULL, 5, 1.5, 'text', x'00ff', %{n} and %b{n}.
func parseParams(text string) ([]param, error) {
	var out []param
	for text = strings.TrimLeft(text, " "); text != ""; text = strings.TrimLeft(text, " ") {
		w := word.FindString(text)
		if w == "" {
			return nil, fmt.Errorf("parameters %q: none begins here", text)
		}
		text = text[len(w):]
		p, err := parseParam(w)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", w, err)
		}
		out = append(out, p)
	}
	return out, nil
}

func parseParam(w string) (param, error) {
	switch {
	case w == "NULL":
		return param{kind: 'n'}, nil
	case strings.HasPrefix(w, "x'"):
		raw, err := hex.DecodeString(strings.Trim(w[1:], "'"))
		return param{kind: 'b', text: bytesOf{{literal: string(raw), kind: 'x'}}}, err
	case strings.HasPrefix(w, "'"):
		plain := strings.NewReplacer(`\'`, "'", `\\`, `\`).Replace(w[1 : len(w)-1])
		return param{kind: 's', text: bytesOf{{literal: plain, kind: 'x'}}}, nil
	case strings.HasPrefix(w, "%b"):
		text, err := parseText(w)
		return param{kind: 'b', text: text}, err
	case strings.HasPrefix(w, "%"):
		text, err := parseText(w)
		return param{kind: 's', text: text}, err
	case number.MatchString(w):
		return param{kind: 'i', text: bytesOf{{literal: w, kind: 'x'}}}, nil
	}
	_, err := strconv.ParseFloat(w, 64)
	return param{kind: 'd', text: bytesOf{{literal: w, kind: 'x'}}}, err
}
