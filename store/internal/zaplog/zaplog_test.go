package zaplog

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

func TestNew(t *testing.T) {
	var out bytes.Buffer
	l := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
	z := New(l, zapcore.WarnLevel, "as always", "closed")
	z.Info("below the level")
	z.With(zap.String("member", "a")).Warn("slow", zap.Int("ms", 7), zap.Bool("b", true))
	z.Warn("warns as always")
	z.Error("ended", zap.Error(errors.New("it is closed")))
	z.Error("ended", zap.Error(errors.New("no space")))
	func() {
		defer func() { _ = recover() }()
		z.Panic("panics as always")
	}()
	want := `level=WARN msg="etcd: slow" member=a b=true ms=7
level=DEBUG msg="etcd: warns as always"
level=DEBUG msg="etcd: ended" error="it is closed"
level=ERROR msg="etcd: ended" error="no space"
level=ERROR msg="etcd: panics as always"
`
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
	if err := z.Sync(); err != nil {
		t.Error(err)
	}
}
