// Package zaplog gives etcd, which logs with zap, a logger that writes to slog. It must not decide where logs go; that
// is the slog handler's business.
package zaplog

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// New returns a zap logger that hands entries of at least the level to l. Entries whose message or error contains one
// of the noise texts, which etcd writes in the ordinary course of things, go to debug level; an empty
// noise text matches them all. A Fatal entry is written
// before zap ends the process.
func New(l *slog.Logger, level zapcore.Level, noise ...string) *zap.Logger {
	return zap.New(&core{log: l, level: level, noise: noise})
}

type core struct {
	log   *slog.Logger
	level zapcore.Level
	noise []string
}

func (c *core) Enabled(l zapcore.Level) bool { return l >= c.level }

func (c *core) With(fields []zapcore.Field) zapcore.Core {
	return &core{log: slog.New(c.log.Handler().WithAttrs(attrs(fields))), level: c.level, noise: c.noise}
}

func (c *core) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return ce.AddCore(e, c)
	}
	return ce
}

func (c *core) Write(e zapcore.Entry, fields []zapcore.Field) error {
	as := attrs(fields)
	level := slogLevel(e.Level)
	if e.Level < zapcore.DPanicLevel && c.noisy(e.Message, as) {
		level = slog.LevelDebug
	}
	c.log.LogAttrs(context.Background(), level, "etcd: "+e.Message, as...) //nolint:sloglint // etcd words it.
	return nil
}

func (c *core) Sync() error { return nil }

func (c *core) noisy(message string, as []slog.Attr) bool {
	return slices.ContainsFunc(c.noise, func(text string) bool {
		return strings.Contains(message, text) || slices.ContainsFunc(as, func(a slog.Attr) bool {
			return a.Key == "error" && strings.Contains(a.Value.String(), text)
		})
	})
}

func attrs(fields []zapcore.Field) []slog.Attr {
	enc := zapcore.NewMapObjectEncoder()
	for _, f := range fields {
		f.AddTo(enc)
	}
	as := make([]slog.Attr, 0, len(enc.Fields))
	for _, k := range slices.Sorted(maps.Keys(enc.Fields)) {
		as = append(as, slog.Any(k, enc.Fields[k]))
	}
	return as
}

func slogLevel(l zapcore.Level) slog.Level {
	switch {
	case l < zapcore.InfoLevel:
		return slog.LevelDebug
	case l < zapcore.WarnLevel:
		return slog.LevelInfo
	case l < zapcore.ErrorLevel:
		return slog.LevelWarn
	default:
		return slog.LevelError
	}
}
