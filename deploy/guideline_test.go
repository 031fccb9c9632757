package deploy

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestGuidelineExample wants the example's cases to pass and nothing in its configuration to be odd.
func TestGuidelineExample(t *testing.T) {
	if code, out := pointsmanctl(t, "test", "examples/guideline/cases"); code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if code, out := pointsmanctl(t, "lint", "examples/guideline/config.yaml"); code != 0 || out != "no findings\n" {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

// TestGuidelineExampleAnswers runs the commands of the README and compares what they print. With -update it writes the README.
func TestGuidelineExampleAnswers(t *testing.T) {
	const readme = "README.md"
	t.Chdir("examples/guideline")
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	got := consoleBlock.ReplaceAllFunc(text, func(block []byte) []byte {
		var out bytes.Buffer
		out.WriteString("```console\n")
		for line := range strings.Lines(string(block)) {
			if command, found := strings.CutPrefix(line, "$ "); found {
				out.WriteString(line)
				out.WriteString(printed(t, strings.TrimSuffix(command, "\n")))
			}
		}
		out.WriteString("```")
		return out.Bytes()
	})
	switch {
	case bytes.Equal(got, text):
	case *update:
		if err := os.WriteFile(readme, got, 0o600); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the commands print something else now; see it with go test ./deploy -run TestGuidelineExampleAnswers -update\n%s", got)
	}
}
