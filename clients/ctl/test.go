package ctl

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/pointsman/pointsman/clients/casefile"
	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/server/translate"
)

func (a *app) test() *cobra.Command {
	var only string
	var update bool
	cmd := &cobra.Command{
		Use:   "test DIR|FILE...",
		Short: "Run case files: statements and the answers that are wanted",
		Long: "Run case files, which hold statements and the answers that are wanted, with the core that decides in the\n" +
			"server. No server is asked. A directory stands for all files *" + casefile.Extension + " below it.\n" +
			"Exit status 1 when an answer differs; 2 when a file or its configuration can't be read.",
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().StringVar(&only, "run", "", "only the cases whose name matches this regular expression")
	cmd.Flags().BoolVar(&update, "update", false, "write the answers into the files in place of the wanted ones")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		match, err := regexp.Compile(only)
		if err != nil {
			return fmt.Errorf("flag --run: %w", err)
		}
		files, err := readCases(args)
		if err != nil {
			return err
		}
		runner := casefile.Runner{Read: func(raw []byte) (*decision.Config, error) {
			cfg, err := parseConfig(raw)
			return translate.ConfigFromProto(cfg), err
		}}
		var run testRun
		var mistakes casefile.MistakesError
		for _, f := range files {
			if !update {
				mistakes = append(mistakes, f.Unfinished()...)
			}
			results, err := runner.Run(f, match)
			if found, ok := errors.AsType[casefile.MistakesError](err); ok {
				mistakes = append(mistakes, found...)
				continue
			}
			run.add(f, results)
		}
		if len(mistakes) > 0 {
			return mistakes
		}
		if run.Passed+run.Failed == 0 {
			return fmt.Errorf("flag --run: no case has a name that matches %q", only)
		}
		if update {
			return a.updateCases(&run)
		}
		return a.printTests(&run)
	}
	return cmd
}

// readCases parses all files; the error holds all mistakes.
func readCases(args []string) ([]*casefile.File, error) {
	paths, err := casefile.Find(args)
	if err != nil {
		return nil, err
	}
	var files []*casefile.File
	var mistakes casefile.MistakesError
	for _, path := range paths {
		raw, err := os.ReadFile(path) //nolint:gosec // the user names the file
		if err != nil {
			return nil, fmt.Errorf("read cases: %w", err)
		}
		f, err := casefile.Parse(path, raw)
		if found, ok := errors.AsType[casefile.MistakesError](err); ok {
			mistakes = append(mistakes, found...)
		}
		files = append(files, f)
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	return files, nil
}

// testRun is the outcome of a run in the tool's JSON output.
type testRun struct {
	Passed int        `json:"passed"`
	Failed int        `json:"failed"`
	Files  []testFile `json:"files"`
}

type testFile struct {
	File   string     `json:"file"`
	Passed int        `json:"passed"`
	Failed int        `json:"failed"`
	Cases  []testCase `json:"cases"`

	file    *casefile.File
	results []casefile.Result
}

type testCase struct {
	Name     string        `json:"name"`
	Line     int           `json:"line"`
	Pass     bool          `json:"pass"`
	Failures []testFailure `json:"failures,omitempty"`
}

type testFailure struct {
	Line      int      `json:"line"`
	Statement string   `json:"statement,omitempty"`
	Field     string   `json:"field"`
	Want      string   `json:"want"`
	Got       string   `json:"got"`
	Explain   []string `json:"explain,omitempty"`
}

func (r *testRun) add(f *casefile.File, results []casefile.Result) {
	out := testFile{File: f.Path, file: f, results: results, Cases: make([]testCase, 0, len(results))}
	for i := range results {
		c := testCase{Name: results[i].Case.Name, Line: results[i].Case.Line, Pass: len(results[i].Failures) == 0}
		for _, x := range results[i].Failures {
			c.Failures = append(c.Failures, testFailure(x))
		}
		if c.Pass {
			out.Passed++
		} else {
			out.Failed++
		}
		out.Cases = append(out.Cases, c)
	}
	if len(results) > 0 {
		r.Passed += out.Passed
		r.Failed += out.Failed
		r.Files = append(r.Files, out)
	}
}

func (a *app) printTests(r *testRun) error {
	if a.output == "json" {
		if err := a.printJSON(r); err != nil {
			return err
		}
	} else {
		for i := range r.Files {
			a.printTestFile(&r.Files[i])
		}
	}
	if r.Failed > 0 {
		return errNo
	}
	return nil
}

// maxStatement is how many characters of a statement or a value are printed.
const maxStatement = 1000

func (a *app) printTestFile(f *testFile) {
	for i := range f.Cases {
		c := &f.Cases[i]
		if c.Pass {
			continue
		}
		fmt.Fprintf(a.io.Out, "--- FAIL: %s (%s:%d)\n", printable(c.Name), f.File, c.Line)
		for j := range c.Failures {
			x := &c.Failures[j]
			if x.Statement != "" && (j == 0 || c.Failures[j-1].Statement != x.Statement) {
				fmt.Fprintf(a.io.Out, "    %s\n", cut(printable(x.Statement), maxStatement))
			}
			fmt.Fprintf(a.io.Out, "    %s:%d: %s: want %s, got %s\n", f.File, x.Line, x.Field, cut(x.Want, maxStatement), cut(x.Got, maxStatement))
			if last := j == len(c.Failures)-1 || c.Failures[j+1].Statement != x.Statement; last && x.Explain != nil {
				fmt.Fprintf(a.io.Out, "    why: pointsmanctl explain %s\n", shellQuoted(x.Explain))
				if slices.Contains(x.Explain, casefile.StatementFile) {
					fmt.Fprintf(a.io.Out, "         %s is this statement, which is too long for a command line or has a NUL byte: save it first\n", casefile.StatementFile)
				}
			}
		}
	}
	if f.Failed > 0 {
		fmt.Fprintf(a.io.Out, "FAIL  %s  %d of %d cases failed\n", f.File, f.Failed, f.Passed+f.Failed)
		return
	}
	fmt.Fprintf(a.io.Out, "ok    %s  %d cases\n", f.File, f.Passed)
}

// updateCases writes files whose wanted values are not those of the run. A statement without an answer stays a failure
// unless its error is wanted.
func (a *app) updateCases(r *testRun) error {
	rest := testRun{Files: []testFile{}}
	for i := range r.Files {
		f := &r.Files[i]
		old, err := os.ReadFile(f.File)
		if err != nil {
			return fmt.Errorf("update cases: %w", err)
		}
		text := f.file.Update(f.results)
		if string(old) != string(text) {
			if err := os.WriteFile(f.File, text, 0o644); err != nil { //nolint:gosec // case files are no secret
				return fmt.Errorf("update cases: %w", err)
			}
			if a.output == "text" {
				fmt.Fprintf(a.io.Out, "wrote %s\n", f.File)
			}
		}
		for j := range f.results {
			f.results[j].KeepErrors()
		}
		rest.add(f.file, f.results)
	}
	return a.printTests(&rest)
}

// shellQuoted writes arguments so that a shell gives them back.
func shellQuoted(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		plain := arg != "" && strings.Trim(arg, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,@%+=") == ""
		switch {
		case plain:
			quoted[i] = arg
		case printable(arg) != arg:
			quoted[i] = bytesQuoted(arg)
		default:
			quoted[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// bytesQuoted writes an argument as a shell reads $'...', with a number for each byte that can't be seen.
func bytesQuoted(arg string) string {
	var b strings.Builder
	b.WriteString("$'")
	for len(arg) > 0 {
		r, n := utf8.DecodeRuneInString(arg)
		switch {
		case r == utf8.RuneError && n == 1 || !unicode.IsPrint(r) && r != '\n':
			for _, c := range []byte(arg[:n]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\'' || r == '\\':
			b.WriteString(`\` + arg[:n])
		default:
			b.WriteString(arg[:n])
		}
		arg = arg[n:]
	}
	return b.String() + "'"
}
