package ctl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	err := protojson.Unmarshal(line, m)
	if err == nil {
		return nil
	}
	text := strings.ReplaceAll(err.Error(), "\u00a0", " ") // protojson varies its blanks on purpose
	return badLine("JSON: %s", strings.TrimPrefix(text, "proto: "))
}

// readLine reads a line of JSON that has no fields but those of v. The error is a *lineError.
func readLine(line []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return badLine("JSON: %v", err)
	}
	if dec.More() {
		return badLine("more than one JSON value")
	}
	return nil
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
