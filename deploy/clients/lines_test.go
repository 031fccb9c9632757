package clients

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"strings"
	"testing"
)

// longLine is how many bytes of a line are kept.
const longLine = 4000

// shortLines keeps text with the rest of long lines replaced by its hash, since some clients print values of 40 MB.
type shortLines struct {
	out  bytes.Buffer
	at   int // Bytes of the current line in out.
	rest *restOfLine
}

type restOfLine struct {
	n    int
	hash hash.Hash
}

func (l *shortLines) Write(p []byte) (int, error) {
	for text := p; len(text) > 0; {
		line, after, ended := bytes.Cut(text, []byte{'\n'})
		keep := min(len(line), longLine-l.at)
		l.out.Write(line[:keep])
		l.at += keep
		if rest := line[keep:]; len(rest) > 0 {
			if l.rest == nil {
				l.rest = &restOfLine{hash: sha256.New()}
			}
			l.rest.n += len(rest)
			_, _ = l.rest.hash.Write(rest)
		}
		if ended {
			l.endLine()
			l.out.WriteByte('\n')
		}
		text = after
	}
	return len(p), nil
}

func (l *shortLines) endLine() {
	if l.rest != nil {
		fmt.Fprintf(&l.out, "... and %d bytes %x", l.rest.n, l.rest.hash.Sum(nil))
	}
	l.rest, l.at = nil, 0
}

// Bytes is the text up to now.
func (l *shortLines) Bytes() []byte {
	l.endLine()
	return l.out.Bytes()
}

func TestShortLines(t *testing.T) {
	long := strings.Repeat("x", longLine)
	for _, tt := range []struct {
		name   string
		writes []string
		want   string
	}{
		{name: "short", writes: []string{"a\nb", "c\n\n", "d"}, want: "a\nbc\n\nd"},
		{name: "just long", writes: []string{long, "\n", "y\n"}, want: long + "\ny\n"},
		{name: "in pieces", writes: []string{long[1:], "x1", "23\nz"}, want: long + fmt.Sprintf("... and 3 bytes %x\nz", sha256.Sum256([]byte("123")))},
	} {
		var l shortLines
		for _, w := range tt.writes {
			if n, err := l.Write([]byte(w)); n != len(w) || err != nil {
				t.Errorf("%s: %d, %v", tt.name, n, err)
			}
		}
		if got := string(l.Bytes()); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
