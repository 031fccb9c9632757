package ctl_test

import (
	"strings"
	"testing"
)

func TestUnknownVerbs(t *testing.T) {
	for _, tt := range []struct {
		args string
		code int
		want string
	}{
		{"guideline activte canary", 2, `unknown command "activte" for "pointsmanctl guideline"; did you mean activate?`},
		{"guideline foo", 2, `unknown command "foo" for "pointsmanctl guideline"; "pointsmanctl guideline --help" lists them`},
		{"help guidelin", 2, `unknown command "guidelin" for "pointsmanctl"`},
		{"help guideline foo", 2, `unknown command "foo" for "pointsmanctl guideline"`},
		{"completion foo", 2, `unknown command "foo" for "pointsmanctl completion"`},
		{"publsh x", 2, `unknown command "publsh" for "pointsmanctl"`},
		{"guideline", 0, "Available Commands:"},
		{"guideline --help", 0, "Available Commands:"},
		{"help guideline", 0, "Available Commands:"},
		{"help guideline eval", 0, "pointsmanctl guideline eval [EXPRESSION]"},
		{"help", 0, "Available Commands:"},
		{"completion bash", 0, "bash completion"},
		{"", 0, "Available Commands:"},
	} {
		code, out, errs := run(t, "", strings.Fields(tt.args)...)
		if code != tt.code || !strings.Contains(out+errs, tt.want) {
			t.Errorf("%s: code %d\n%s%s", tt.args, code, out, errs)
		}
	}
}
