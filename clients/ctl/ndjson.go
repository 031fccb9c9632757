package ctl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// maxLine is the most bytes of one input line.
const maxLine = 64 << 20

// lineError is what a bad line gives instead of an answer.
type lineError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (e *lineError) Error() string { return e.Code + ": " + e.Message }

func badLine(format string, args ...any) *lineError {
	return &lineError{"INVALID_ARGUMENT", fmt.Sprintf(format, args...)}
}

// readMessage reads a line of proto JSON. The error is a *lineError.
func readMessage(line []byte, m proto.Message) error {
	if err := someText(line); err != nil {
		return err
	}
	err := protojson.Unmarshal(line, m)
	if err == nil {
		return nil
	}
	text := strings.ReplaceAll(err.Error(), "\u00a0", " ") // protojson varies its blanks on purpose
	return badLine("JSON: %s", strings.TrimPrefix(text, "proto: "))
}

// readLine reads a line of JSON that has no fields but those of v. The error is a *lineError.
func readLine(line []byte, v any) error {
	if err := someText(line); err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	var other *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &other):
		return badLine("%s", wrongType(other))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return badLine("JSON: the line ends in the middle of a value")
	case errors.As(err, &syntax):
		return badLine("JSON: %v", syntax)
	case err != nil: // an unknown field, or what a type of ours refuses
		return badLine("%s", strings.TrimPrefix(err.Error(), "json: "))
	case dec.More():
		return badLine("more than one JSON value")
	}
	return nil
}

// someText refuses an empty line.
func someText(line []byte) error {
	if len(bytes.TrimSpace(line)) == 0 {
		return badLine("the line is empty; want a JSON object")
	}
	return nil
}

// wrongType tells which field has another type than it should, in the words of JSON.
func wrongType(e *json.UnmarshalTypeError) string {
	got, _, _ := strings.Cut(e.Value, " ")
	text := map[string]string{"array": "a list", "object": "an object", "string": "a text", "bool": "true or false", "number": "a number"}[got]
	want := fieldKind(e.Type)
	if want == "a text" && (got == "number" || got == "bool") {
		text += "; write it in quotes"
	}
	if e.Field == "" {
		return fmt.Sprintf("JSON: want %s, got %s", want, text)
	}
	return fmt.Sprintf("%s: want %s, got %s", e.Field, want, text)
}

// fieldKind tells what JSON a field takes.
func fieldKind(t reflect.Type) string {
	switch t.Kind() { //nolint:exhaustive // what is left are whole numbers
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a text of base64"
		}
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	}
	return "a whole number"
}

// lineReader gives the lines of a stream, without their ends.
type lineReader struct {
	r    *bufio.Reader
	line []byte
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 1<<20)}
}

// next gives the next line, valid until the next call; io.EOF after the last. A line over maxLine is read to
// its end and gives a *lineError.
func (l *lineReader) next() ([]byte, error) {
	l.line = l.line[:0]
	tooLong := false
	for {
		part, err := l.r.ReadSlice('\n')
		if !tooLong {
			l.line = append(l.line, part...)
			tooLong = len(l.line) > maxLine+1
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(l.line) == 0:
			return nil, io.EOF
		case err != nil && !errors.Is(err, io.EOF):
			return nil, fmt.Errorf("read input: %w", err)
		case tooLong:
			l.line = nil // give the memory back
			return nil, badLine("line of more than %d bytes", maxLine)
		}
		return bytes.TrimRight(l.line, "\r\n"), nil
	}
}

// idle tells whether the next line would have to be waited for.
func (l *lineReader) idle() bool { return l.r.Buffered() == 0 }

// bulk answers each line of standard input with one line of output, in order: answer appends the answer to
// its first argument. Output is flushed whenever the input idles. A bad line gives an error object and makes
// the verb end with "no".
func (a *app) bulk(answer func(dst, line []byte) ([]byte, error)) error {
	in := newLineReader(a.io.In)
	out := bufio.NewWriterSize(a.io.Out, 1<<16)
	bad := false
	var dst []byte
	for n := 1; ; n++ {
		line, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			dst, err = answer(dst[:0], line)
		}
		if err != nil {
			var le *lineError
			if !errors.As(err, &le) {
				return errors.Join(err, out.Flush())
			}
			bad = true
			dst = appendLineError(dst[:0], n, le)
		}
		dst = append(dst, '\n')
		if _, err := out.Write(dst); err != nil {
			return fmt.Errorf("write output: %w", err)
		}
		if in.idle() {
			if err := out.Flush(); err != nil {
				return fmt.Errorf("write output: %w", err)
			}
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	if bad {
		return errNo
	}
	return nil
}

func appendLineError(dst []byte, n int, e *lineError) []byte {
	doc, _ := json.Marshal(struct { // a number and two texts always marshal
		Line  int        `json:"line"`
		Error *lineError `json:"error"`
	}{n, e})
	return append(dst, doc...)
}
