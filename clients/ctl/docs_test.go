package ctl_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/pointsman/pointsman/clients/ctl"
	"github.com/pointsman/pointsman/decision"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/translate"
)

const docsFolder = "../../docs"

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(docsFolder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// section is what stands under a heading of level 2, up to the next heading.
func section(t *testing.T, text, heading string) string {
	t.Helper()
	_, after, found := strings.Cut(text, "\n## "+heading+"\n")
	if !found {
		t.Errorf("no heading %q", heading)
		return ""
	}
	body, _, _ := strings.Cut(after, "\n##")
	return body
}

// TestEveryFieldIsDocumented wants a table row for each field in the section that is named as the list it belongs to. Fields
// that are no list stand in the section guideline.
func TestEveryFieldIsDocumented(t *testing.T) {
	text := page(t, "configuration.md")
	parts := (&configv1.Config{}).ProtoReflect().Descriptor().Fields()
	for i := range parts.Len() {
		name := string(parts.Get(i).Name())
		if parts.Get(i).Message() == nil {
			if n := strings.Count(section(t, text, "guideline"), fmt.Sprintf("\n| `%s` | ", name)); n != 1 {
				t.Errorf("section guideline has %d rows for %s", n, name)
			}
			continue
		}
		body := section(t, text, name)
		fields := parts.Get(i).Message().Fields()
		for j := range fields.Len() {
			field := fields.Get(j).Name()
			if n := strings.Count(body, fmt.Sprintf("\n| `%s` | ", field)); n != 1 {
				t.Errorf("section %s has %d rows for %s", name, n, field)
			}
		}
	}
}

// TestDocumentedDefaults compares the settings' table with what an empty configuration compiles to.
func TestDocumentedDefaults(t *testing.T) {
	body := section(t, page(t, "configuration.md"), "settings")
	generation, problems := decision.Compile(1, &decision.Config{})
	if generation == nil {
		t.Fatal(problems)
	}
	settings := generation.Settings()
	filled := translate.SettingsToProto(&settings).ProtoReflect()
	fields := filled.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		want := fmt.Sprintf("\n| `%s` | `%v` | ", field.Name(), filled.Get(field).Interface())
		if !strings.Contains(body, want) {
			t.Errorf("no row that begins %q", want)
		}
	}
}

// TestEveryVerbIsDocumented wants the help of each verb, with all its flags, on the page. TestDocumentedCommands
// compares it with the real one.
func TestEveryVerbIsDocumented(t *testing.T) {
	text := page(t, "pointsmanctl.md")
	_, help, _ := run(t, "", "--help")
	_, list, _ := strings.Cut(help, "Available Commands:\n")
	list, flags, _ := strings.Cut(list, "\n\nFlags:\n")
	for line := range strings.Lines(list) {
		verb := strings.Fields(line)[0]
		if verb != "help" && !strings.Contains(text, "$ pointsmanctl "+verb+" --help\n") {
			t.Errorf("the help of %s is missing", verb)
		}
	}
	common := section(t, text, "Common flags")
	for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(flags, -1) {
		if flag != "--help" && !strings.Contains(common, "`"+flag+"`") {
			t.Errorf("flag %s is not among the common flags", flag)
		}
	}
}

// codeBlock is a fenced block: its kind and its text.
var codeBlock = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

// fileBlock is how a block begins that is a whole file.
var fileBlock = regexp.MustCompile(`^# (\S+\.yaml)\n`)

// TestDocumentedDocuments compiles each whole document of configuration.md.
func TestDocumentedDocuments(t *testing.T) {
	found := 0
	for _, block := range codeBlock.FindAllStringSubmatch(page(t, "configuration.md"), -1) {
		name := fileBlock.FindStringSubmatch(block[2])
		if block[1] != "yaml" || name == nil {
			continue
		}
		found++
		if code, out, errs := run(t, block[2], "validate", "-"); code != 0 {
			t.Errorf("%s: code %d\n%s%s", name[1], code, out, errs)
		}
	}
	if found == 0 {
		t.Error("there is no whole document")
	}
}

// TestDocumentedCommands runs the examples of kind "console" and compares what they print. The files they read are the
// YAML blocks before them that begin with a file's name, and what "cat" shows.
func TestDocumentedCommands(t *testing.T) {
	for _, name := range []string{"configuration.md", "pointsmanctl.md", "explain.md", "digests.md", "lint.md", "testing.md", "guidelines.md"} {
		text := page(t, name)
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			status := 0
			for _, block := range codeBlock.FindAllStringSubmatch(text, -1) {
				switch file := fileBlock.FindStringSubmatch(block[2]); {
				case block[1] == "yaml" && file != nil:
					write(t, file[1], block[2])
				case block[1] == "console":
					for example := range strings.SplitSeq(strings.TrimPrefix(block[2], "$ "), "\n$ ") {
						command, want, _ := strings.Cut(example, "\n")
						try(t, command, strings.TrimRight(want, "\n"), &status)
					}
				}
			}
		})
	}
}

// try runs one command line of an example. status is the exit status of the one before.
func try(t *testing.T, command, want string, status *int) {
	t.Helper()
	words := shellWords(t, command)
	if words[0] == "cat" {
		write(t, words[1], want+"\n")
		*status = 0
		return
	}
	var got bytes.Buffer
	switch {
	case command == "echo $?":
		got.WriteString(strconv.Itoa(*status))
	case words[0] == "pointsmanctl":
		var in []byte
		if n := len(words); n > 2 && words[n-2] == "<" {
			var err error
			if in, err = os.ReadFile(words[n-1]); err != nil {
				t.Fatal(err)
			}
			words = words[:n-2]
		}
		*status = ctl.Main(t.Context(), "test", words[1:], ctl.IO{In: bytes.NewReader(in), Out: &got, Err: &got, Getenv: func(string) string { return "" }})
	default:
		t.Errorf("example %q is not known here", command)
	}
	if out := strings.TrimRight(got.String(), "\n"); out != want {
		t.Errorf("$ %s\n%s\nthe page has\n%s", command, out, want)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// shellWord is a word or a quoted text without anything that a shell would expand.
var shellWord = regexp.MustCompile(`"[^"\\$` + "`" + `]*"|'[^']*'|[^\s"'\\]+`)

// shellWords splits a command line as a shell does that knows blanks and quotes only.
func shellWords(t *testing.T, line string) []string {
	t.Helper()
	if rest := strings.TrimSpace(shellWord.ReplaceAllString(line, "")); rest != "" {
		t.Fatalf("can't split %q: %q is left", line, rest)
	}
	words := shellWord.FindAllString(line, -1)
	for i, w := range words {
		if w[0] == '"' || w[0] == '\'' {
			words[i] = w[1 : len(w)-1]
		}
	}
	return words
}
