package ctl

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pointsman/pointsman/clients/document"
	"github.com/pointsman/pointsman/decision/guideline"
)

func (a *app) guideline() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "guideline",
		Short: "Check, try, store and inspect routing guidelines",
		Long: "Check, try, store and inspect routing guidelines: documents in MySQL Router's language that say which servers a\n" +
			"session's reads and writes go to. FILE is a document in JSON as MySQL Shell writes it (- is standard input), or in\n" +
			"YAML if its name ends in .yaml or .yml.",
	}
	cmd.AddCommand(a.guidelineCheck(), a.guidelineEval(), a.guidelinePreview(), a.guidelineImport(), a.guidelineActivate(),
		a.guidelineDeactivate(), a.guidelineShow(), a.guidelineDefaults())
	return cmd
}

// maxGuidelineFile is the most bytes that are read of a guideline. A document of that size is refused, whatever it says.
const maxGuidelineFile = 64 << 20

// readGuideline gives the bytes of a document. JSON comes as it is: its order, repeated keys and bad bytes all count.
func (a *app) readGuideline(path string) ([]byte, error) {
	in := a.io.In
	if path != "-" {
		f, err := os.Open(path) //nolint:gosec // the user names the file
		if err != nil {
			return nil, fmt.Errorf("read guideline: %w", err)
		}
		defer f.Close() //nolint:errcheck // it is only read
		in = f
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxGuidelineFile))
	if err != nil {
		return nil, fmt.Errorf("read guideline %s: %w", path, err)
	}
	if ext := filepath.Ext(path); ext == ".yaml" || ext == ".yml" {
		if raw, err = document.ToJSON(raw); err != nil {
			return nil, fmt.Errorf("guideline %s: %w", path, err)
		}
	}
	return raw, nil
}

func (a *app) guidelineCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Find all problems of a guideline",
		Long: "Find all problems of a guideline, one a line as MySQL Router words them, each with the expression and a mark under\n" +
			"the fault on standard error. No server is asked. Exit status 1 when there are any.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			raw, err := a.readGuideline(args[0])
			if err != nil {
				return err
			}
			_, problems := guideline.Compile(raw)
			return a.printGuidelineProblems(a.io.Err, raw, problems)
		},
	}
}

// printGuidelineProblems prints the problems of a document and ends the verb with "no" if there are any. What people see
// beside the problems, marks under the faults and what mends them, goes to w.
func (a *app) printGuidelineProblems(w io.Writer, raw []byte, problems []guideline.Problem) error {
	if a.output == "json" {
		texts := make([]string, len(problems))
		for i := range problems {
			texts[i] = problems[i].Text
		}
		if err := a.printJSON(map[string]any{"problems": texts}); err != nil {
			return err
		}
	} else {
		for i := range problems {
			p := &problems[i]
			fmt.Fprintln(a.io.Out, oneLine(p.Text))
			if p.Start >= 0 {
				writeCaret(w, p.Expression, p.Start, p.End)
			}
			writeHint(w, p.Text)
		}
		if len(problems) == 0 {
			fmt.Fprintln(a.io.Out, "no problems")
		} else if other := otherKind(raw); other != "" {
			fmt.Fprintln(w, other)
		}
	}
	if len(problems) > 0 {
		return errNo
	}
	return nil
}

func (a *app) guidelineDefaults() *cobra.Command {
	return &cobra.Command{
		Use:       "defaults cluster|clusterset|replicaset",
		Short:     "Print the guideline that MySQL Shell makes for a kind of topology",
		Args:      cobra.ExactArgs(1),
		ValidArgs: []string{"cluster", "clusterset", "replicaset"},
		RunE: func(_ *cobra.Command, args []string) error {
			doc, err := guideline.Default(args[0])
			if err != nil {
				return fmt.Errorf("argument: %w", err)
			}
			_, err = a.io.Out.Write(doc)
			return err
		},
	}
}
