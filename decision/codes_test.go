package decision

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestCodesAreDocumented holds codes.go and docs/problems.md together.
func TestCodesAreDocumented(t *testing.T) {
	source, err := os.ReadFile("codes.go")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := os.ReadFile(filepath.Join("..", "docs", "problems.md"))
	if err != nil {
		t.Fatal(err)
	}
	codes := func(expr string, text []byte) map[string]bool {
		set := map[string]bool{}
		for _, m := range regexp.MustCompile(expr).FindAllSubmatch(text, -1) {
			set[string(m[1])] = true
		}
		return set
	}
	inSource := codes(`(?m)^\tcode\w+ += "(\w+)"`, source)
	inDocs := codes("(?m)^\\| `(\\w+)` \\|", docs)
	if len(inSource) == 0 {
		t.Fatal("no codes found")
	}
	for code := range inSource {
		if !inDocs[code] {
			t.Errorf("%s is not in docs/problems.md", code)
		}
	}
	for code := range inDocs {
		if !inSource[code] {
			t.Errorf("%s is in docs/problems.md but not in codes.go", code)
		}
	}
}
