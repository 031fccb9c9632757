package ctl_test

import (
	"strings"
	"testing"
)

// TestGuidelineHints wants a word about what mends slips whose messages, which are MySQL Router's, don't say it.
func TestGuidelineHints(t *testing.T) {
	bare := strings.Replace(smallGuideline, `"1.1"`, "1.1", 1)
	const inQuotes = `    write the version in quotes: version: "1.1"` + "\n"
	const noText = "'version' must be a string value"
	for _, tt := range []struct {
		in, verb          string
		code              int
		onOutput, onError string
	}{
		{bare, "guideline check", 1, noText + "\n", inQuotes},
		{bare, "guideline check -o json", 1, noText, ""},
		{bare, "guideline import --name g --server " + serveConfig(t, &configService{}), 1, noText + "\n" + inQuotes, ""},
		{"guideline: " + bare + guided, "validate", 1, noText + " [guideline]\n" + inQuotes, ""},
		{`{"servers": [], "users": []}`, "guideline check", 1, "", "this looks like a configuration (it has servers, users), not like a routing guideline: use \"pointsmanctl validate\" or \"publish\"\n"},
		{smallGuideline, "validate", 2, "", "this looks like a routing guideline (it has destinations or routes), not like a configuration: use \"pointsmanctl guideline check\""},
		{smallGuideline, "publish", 2, "", "this looks like a routing guideline"},
		{"{\"destinations\": [], \"servers\": []}", "validate", 2, "", "destinations: unknown field"},
	} {
		code, out, errs := run(t, tt.in, append(strings.Fields(tt.verb), "-")...)
		if code != tt.code || !strings.Contains(out, tt.onOutput) || !strings.Contains(errs, tt.onError) || tt.onError == "" && errs != "" {
			t.Errorf("%s of %s: code %d\n%s\non standard error:\n%s", tt.verb, tt.in, code, out, errs)
		}
	}
}

// TestPreviewWithoutUser refuses flags that have no effect.
func TestPreviewWithoutUser(t *testing.T) {
	for want, flags := range map[string][]string{
		"flag --client-addr tells of a session, and without --user there is none; give --user, too": {"--client-addr", "10.0.0.1", "--random-value", "0.5"},
		"flag --random-value tells of a session":                                                    {"--random-value", "0"},
		"flag --proxy-port: 99999999 is not within 0..65535":                                        {"--user", "app", "--proxy-port", "99999999"},
	} {
		args := append([]string{"guideline", "preview", "testdata/guideline/canary.json", "--config", "testdata/guideline/config.yaml"}, flags...)
		if code, out, errs := run(t, "", args...); code != 2 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%q: code %d, %s%s", args, code, out, errs)
		}
	}
}
