package embedded

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"
)

// maxLine bounds what is kept of a line that does not end.
const maxLine = 16 << 10

// lineLogger hands what a child writes to a logger, line by line. Lines of slog's JSON and text handlers keep their
// level, and those of the JSON handler their attributes as well. Other lines, such as a panic's, are warnings.
type lineLogger struct {
	log  *slog.Logger
	rest []byte
}

// Write never fails: a child must not stop because of its log.
func (l *lineLogger) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		line, after, whole := bytes.Cut(b, []byte("\n"))
		l.rest = append(l.rest, line[:min(len(line), maxLine-len(l.rest))]...)
		if whole {
			l.flush()
		}
		b = after
	}
	return n, nil
}

func (l *lineLogger) flush() {
	line := string(bytes.TrimSpace(l.rest))
	l.rest = l.rest[:0]
	if line == "" {
		return
	}
	level, message, attrs := parseLine(line)
	l.log.LogAttrs(context.Background(), level, "store: "+message, attrs...) //nolint:sloglint // The child words it.
}

func parseLine(line string) (slog.Level, string, []slog.Attr) {
	level := slog.LevelWarn
	var fields map[string]any
	if json.Unmarshal([]byte(line), &fields) == nil {
		message, _ := fields[slog.MessageKey].(string)
		name, _ := fields[slog.LevelKey].(string)
		if message != "" && level.UnmarshalText([]byte(name)) == nil {
			delete(fields, slog.TimeKey)
			delete(fields, slog.LevelKey)
			delete(fields, slog.MessageKey)
			var attrs []slog.Attr
			for _, k := range slices.Sorted(maps.Keys(fields)) {
				attrs = append(attrs, slog.Any(k, fields[k]))
			}
			return level, message, attrs
		}
		return slog.LevelWarn, line, nil
	}
	if _, after, ok := strings.Cut(line, " "+slog.LevelKey+"="); ok && strings.HasPrefix(line, slog.TimeKey+"=") {
		name, _, _ := strings.Cut(after, " ")
		if level.UnmarshalText([]byte(name)) != nil {
			level = slog.LevelWarn
		}
	}
	return level, line, nil
}
