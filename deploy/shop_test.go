package deploy

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/clients/ctl"
)

var update = flag.Bool("update", false, "write what commands print into the READMEs of examples")

// TestShopConfiguration holds the size of the example to what its README says.
func TestShopConfiguration(t *testing.T) {
	text, err := os.ReadFile("examples/shop/config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	count := func(pattern string) int {
		return len(regexp.MustCompile(pattern).FindAll(text, -1))
	}
	flags := map[string]bool{"0": true}
	for _, m := range regexp.MustCompile(`rule_id: \d+, flag_in: (\d+)`).FindAllSubmatch(text, -1) {
		flags[string(m[1])] = true
	}
	if rules, routes := count(`rule_id: \d+`), count(`schemaname: \S+, flag_in: 300`); rules != 100 || len(flags) != 5 || routes != 50 {
		t.Errorf("%d rules, %d chains, %d fast routes; want 100, 5 and 50", rules, len(flags), routes)
	}
}

// TestShopCases wants all cases to pass, and enough of them.
func TestShopCases(t *testing.T) {
	const enough = 60
	code, out := pointsmanctl(t, "test", "examples/shop/cases")
	if code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
	cases := 0
	files, err := os.ReadDir("examples/shop/cases")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile("examples/shop/cases/" + file.Name())
		if err != nil {
			t.Fatal(err)
		}
		cases += len(regexp.MustCompile(`(?m)^-- .* --$`).FindAll(text, -1))
	}
	if cases < enough {
		t.Errorf("%d cases, want %d or more", cases, enough)
	}
}

// TestShopFindings accepts one finding, a hint on rule 19.
func TestShopFindings(t *testing.T) {
	code, out := pointsmanctl(t, "lint", "examples/shop/config.yaml")
	if code != 0 || strings.Count(out, "\n") != 2 || !strings.HasPrefix(out, "hint: rule 19, ") || !strings.Contains(out, "[backtracking_expression]") {
		t.Errorf("exit code %d\n%s", code, out)
	}
}

var (
	consoleBlock = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")
	commandWord  = regexp.MustCompile(`"[^"]*"|'[^']*'|\S+`)
)

// TestShopAnswers runs the commands of the README and compares what they print. With -update it writes the README.
func TestShopAnswers(t *testing.T) {
	const readme = "README.md"
	t.Chdir("examples/shop")
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	questions := regexp.MustCompile(`(?m)^## (\d+)\. .*\?$|^## (\d+)\. `).FindAll(text, -1)
	if len(questions) != 10 {
		t.Errorf("%d questions, want 10", len(questions))
	}
	commands := 0
	got := consoleBlock.ReplaceAllFunc(text, func(block []byte) []byte {
		var out bytes.Buffer
		out.WriteString("```console\n")
		for line := range strings.Lines(string(block)) {
			if command, found := strings.CutPrefix(line, "$ "); found {
				commands++
				out.WriteString(line)
				out.WriteString(printed(t, strings.TrimSuffix(command, "\n")))
			}
		}
		out.WriteString("```")
		return out.Bytes()
	})
	if commands < len(questions) {
		t.Errorf("%d commands for %d questions", commands, len(questions))
	}
	switch {
	case bytes.Equal(got, text):
	case *update:
		if err := os.WriteFile(readme, got, 0o600); err != nil {
			t.Fatal(err)
		}
	default:
		lines := strings.Split(string(text), "\n")
		for i, line := range strings.Split(string(got), "\n") {
			if i >= len(lines) || line != lines[i] {
				t.Fatalf("README.md, line %d: the commands print %q now; see the whole with go test ./deploy -run TestShopAnswers -update", i+1, line)
			}
		}
		t.Fatal("README.md goes on where the commands' output ends")
	}
}

// printed runs a command line of the README.
func printed(t *testing.T, command string) string {
	t.Helper()
	words := commandWord.FindAllString(command, -1)
	for i, w := range words {
		if w[0] == '"' || w[0] == '\'' {
			words[i] = w[1 : len(w)-1]
		}
	}
	if !slices.Equal(words[:1], []string{"pointsmanctl"}) {
		t.Fatalf("command %q is not known here", command)
	}
	var out bytes.Buffer
	ctl.Main(t.Context(), "test", words[1:], ctl.IO{In: strings.NewReader(""), Out: &out, Err: &out, Getenv: func(string) string { return "" }})
	return out.String()
}
