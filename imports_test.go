package pointsman_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	module = "github.com/pointsman/pointsman"
	etcd   = "go.etcd.io"
	// maxMainLines bounds a main package: it wires signals, arguments and the exit code, nothing else.
	maxMainLines = 60
)

// goPackage is what `go list -json` says of a package.
type goPackage struct {
	Dir        string
	ImportPath string
	Name       string
	Standard   bool
	GoFiles    []string
	Imports    []string
	Deps       []string
}

// rule says what the packages in from may not import. Paths name a package and everything below it; those in ours
// are relative to the module.
type rule struct {
	from     []string
	except   []string
	never    []string
	indirect bool // Also through other packages.
}

// rules is the part of the design that a list of forbidden paths can tell.
var rules = []rule{
	{from: ours("store"), never: ours("decision", "server", "gateway", "clients", "proto"), indirect: true},
	{from: ours("gateway"), never: append(ours("server"), etcd), indirect: true},
	{from: ours("proto"), never: ours("decision", "store", "server", "gateway", "clients"), indirect: true},
	{from: ours("clients/go"), never: append(ours("decision", "store", "server", "gateway"), etcd), indirect: true},
	{from: []string{module}, except: ours("store/embedded"), never: []string{etcd + "/etcd/server"}},
	// The core does no I/O, logs nothing, and gets randomness from its callers.
	{from: ours("decision"), never: []string{
		"crypto/rand", "database/sql", "io/fs", "log", "math/rand", "net/http", "os", "syscall",
	}},
	// Time comes in with the question.
	{from: ours("decision"), never: []string{"time"}},
}

func ours(paths ...string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = module + "/" + p
	}
	return out
}

// within reports whether path is one of roots or below one.
func within(path string, roots []string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return path == root || strings.HasPrefix(path, root+"/")
	})
}

// violations gives one line for each package and forbidden path that it imports, in the packages' order. The packages
// are those of the module and all that they depend on.
func violations(packages []goPackage) []string {
	standard := map[string]bool{"C": true}
	for _, p := range packages {
		if p.Standard {
			standard[p.ImportPath] = true
		}
	}
	var out []string
	for _, p := range packages {
		if !within(p.ImportPath, []string{module}) {
			continue
		}
		for _, r := range rules {
			if !within(p.ImportPath, r.from) || within(p.ImportPath, r.except) {
				continue
			}
			imports := p.Imports
			if r.indirect {
				imports = p.Deps
			}
			for _, root := range r.never {
				i := slices.IndexFunc(imports, func(path string) bool { return within(path, []string{root}) })
				if i >= 0 {
					out = append(out, fmt.Sprintf("%s imports %s", p.ImportPath, imports[i]))
				}
			}
		}
		out = append(out, strangers(p, standard)...)
	}
	return out
}

// strangers checks the two kinds of package that have a list of what they may import: the core and main packages.
func strangers(p goPackage, standard map[string]bool) []string {
	var out []string
	if within(p.ImportPath, ours("decision")) {
		for _, path := range p.Imports {
			switch {
			case standard[path], within(path, ours("decision")):
			default:
				out = append(out, fmt.Sprintf("%s imports %s", p.ImportPath, path))
			}
		}
	}
	if p.Name == "main" {
		others := slices.DeleteFunc(slices.Clone(p.Imports), func(path string) bool { return standard[path] })
		if len(others) != 1 || !within(others[0], []string{module}) {
			out = append(out, fmt.Sprintf("%s imports %v, want one package of the module", p.ImportPath, others))
		}
	}
	return out
}

func TestImports(t *testing.T) {
	packages := list(t)
	for _, v := range violations(packages) {
		t.Error(v)
	}
	for _, p := range packages {
		if p.Name != "main" || !within(p.ImportPath, []string{module}) {
			continue
		}
		lines := 0
		for _, name := range p.GoFiles {
			text, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			lines += bytes.Count(text, []byte("\n"))
		}
		if lines > maxMainLines {
			t.Errorf("%s has %d lines, want at most %d", p.ImportPath, lines, maxMainLines)
		}
	}
}

// list gives the module's packages and all their dependencies.
func list(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps",
		"-json=Dir,ImportPath,Name,Standard,GoFiles,Imports,Deps", "./...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, stderr.String())
	}
	var packages []goPackage
	for dec := json.NewDecoder(bytes.NewReader(text)); ; {
		var p goPackage
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func TestViolations(t *testing.T) {
	const (
		core    = module + "/decision"
		pattern = module + "/decision/pattern"
	)
	for _, tt := range []struct {
		name string
		pkg  goPackage
		want int
	}{
		{"core, standard library and core", goPackage{ImportPath: core, Imports: []string{"fmt", "net/netip", pattern}}, 0},
		{"core, os below fmt", goPackage{ImportPath: core, Imports: []string{"fmt"}, Deps: []string{"os", "time"}}, 0},
		{"core, module", goPackage{ImportPath: core, Imports: []string{"github.com/google/uuid"}}, 1},
		{"pattern, another engine", goPackage{ImportPath: pattern, Imports: []string{"github.com/dlclark/regexp2"}}, 1},
		{"core, API", goPackage{ImportPath: core, Imports: []string{module + "/proto/pointsman/config/v1"}}, 1},
		{"core, os", goPackage{ImportPath: core, Imports: []string{"os"}}, 1},
		{"core, clock", goPackage{ImportPath: core + "/live", Imports: []string{"time"}}, 1},
		{"core, logger", goPackage{ImportPath: core, Imports: []string{"log/slog"}}, 1},
		{"store, core indirectly", goPackage{ImportPath: module + "/store", Deps: []string{core}}, 1},
		{"store, server and gateway", goPackage{ImportPath: module + "/store/lastgood", Deps: []string{module + "/server", module + "/gateway"}}, 2},
		{"store, etcd client", goPackage{ImportPath: module + "/store", Imports: []string{etcd + "/etcd/client/v3"}}, 0},
		{"store, etcd server", goPackage{ImportPath: module + "/store", Imports: []string{etcd + "/etcd/server/v3/embed"}}, 1},
		{"embedded, etcd server", goPackage{ImportPath: module + "/store/embedded", Imports: []string{etcd + "/etcd/server/v3/embed"}}, 0},
		{"server, store", goPackage{ImportPath: module + "/server", Imports: []string{module + "/store"}, Deps: []string{etcd + "/etcd/server/v3/embed"}}, 0},
		{"server, etcd server", goPackage{ImportPath: module + "/server", Imports: []string{etcd + "/etcd/server/v3/embed"}}, 1},
		{"gateway, server", goPackage{ImportPath: module + "/gateway", Deps: []string{module + "/server/translate"}}, 1},
		{"gateway, etcd indirectly", goPackage{ImportPath: module + "/gateway/route", Deps: []string{etcd + "/etcd/client/v3"}}, 1},
		{"gateway, core and last good", goPackage{ImportPath: module + "/gateway", Deps: []string{core, module + "/store/lastgood"}}, 0},
		{"API, core", goPackage{ImportPath: module + "/proto/pointsman/config/v1", Deps: []string{core}}, 1},
		{"API, API", goPackage{ImportPath: module + "/proto/pointsman/config/v1", Deps: []string{module + "/proto/pointsman/decision/v1"}}, 0},
		{"client, server", goPackage{ImportPath: module + "/clients/go", Deps: []string{module + "/server/api"}}, 1},
		{"main, one package", goPackage{ImportPath: module + "/server/cmd/pointsman", Name: "main", Imports: []string{"os", module + "/server"}}, 0},
		{"main, two packages", goPackage{ImportPath: module + "/server/cmd/pointsman", Name: "main", Imports: []string{module + "/server", module + "/store"}}, 1},
		{"main, another module", goPackage{ImportPath: module + "/server/cmd/pointsman", Name: "main", Imports: []string{"github.com/spf13/cobra"}}, 1},
		{"similar name", goPackage{ImportPath: module + "/gateway", Deps: []string{module + "/serverless", "go.etcd.io.example/x"}}, 0},
		{"not ours", goPackage{ImportPath: "example.org/store", Deps: []string{core}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			packages := []goPackage{tt.pkg}
			for _, path := range []string{"fmt", "log/slog", "net/netip", "os", "time"} {
				packages = append(packages, goPackage{ImportPath: path, Standard: true})
			}
			if got := violations(packages); len(got) != tt.want {
				t.Errorf("violations: %q, want %d", got, tt.want)
			}
		})
	}
}
