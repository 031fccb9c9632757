package embedded

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestLineLogger(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"json": {
			`{"time":"2026-11-30T08:00:00Z","level":"INFO","msg":"ready","pid":7,"a":"b c"}` + "\n",
			"level=INFO msg=\"store: ready\" a=\"b c\" pid=7\n",
		},
		"text": {
			"time=2026-11-30T08:00:00Z level=ERROR msg=broken\n",
			"level=ERROR msg=\"store: time=2026-11-30T08:00:00Z level=ERROR msg=broken\"\n",
		},
		"other":         {"panic: no\n\n  at x\n", "level=WARN msg=\"store: panic: no\"\nlevel=WARN msg=\"store: at x\"\n"},
		"other json":    {"{\"a\":1}\n[1]\n", "level=WARN msg=\"store: {\\\"a\\\":1}\"\nlevel=WARN msg=\"store: [1]\"\n"},
		"unknown level": {"time=x level=LOUD msg=y\n", "level=WARN msg=\"store: time=x level=LOUD msg=y\"\n"},
		"no end":        {"last words", "level=WARN msg=\"store: last words\"\n"},
		"endless":       {strings.Repeat("x", 3*maxLine) + "\ny\n", "level=WARN msg=\"store: " + strings.Repeat("x", maxLine) + "\"\nlevel=WARN msg=\"store: y\"\n"},
	} {
		for _, step := range []int{1, 7, 1 << 20} {
			var out bytes.Buffer
			l := &lineLogger{log: slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{
				ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
					if a.Key == slog.TimeKey {
						return slog.Attr{}
					}
					return a
				},
			}))}
			for rest := []byte(c.in); len(rest) > 0; {
				n := min(step, len(rest))
				if written, err := l.Write(rest[:n]); written != n || err != nil {
					t.Fatal(written, err)
				}
				rest = rest[n:]
			}
			l.flush()
			if out.String() != c.want {
				t.Errorf("%s, %d bytes at once: %.300s", name, step, out.String())
			}
		}
	}
}

func FuzzParseLine(f *testing.F) {
	f.Add(`{"time":"t","level":"INFO","msg":"m","x":[1]}`)
	f.Add("time=t level=WARN+2 msg=m")
	f.Fuzz(func(t *testing.T, line string) {
		if _, message, _ := parseLine(line); message == "" && line != "" {
			t.Error("the line was lost")
		}
	})
}
