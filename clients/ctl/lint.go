package ctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	client "github.com/pointsman/pointsman/clients/go"
	"github.com/pointsman/pointsman/decision"
	"github.com/pointsman/pointsman/decision/lint"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/translate"
)

func (a *app) lint() *cobra.Command {
	var generation uint64
	cmd := &cobra.Command{
		Use:   "lint [FILE]",
		Short: "Find what is valid in a configuration and yet can't be meant",
		Long: "Find what is valid in a configuration and yet can't be meant: rules that are never reached, destinations that\n" +
			"are overridden, reads that lock rows on a replica. Works offline on a file (YAML or JSON, - is standard input);\n" +
			"without one the server looks at a generation. Exit status 1 when a finding is a warning, or when the\n" +
			"configuration has errors, which are then listed instead; hints alone are 0.",
		Args: cobra.MaximumNArgs(1),
	}
	cmd.Flags().Uint64Var(&generation, "generation", 0, "a stored generation (the current one)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		given := cmd.Flags().Changed("generation")
		if len(args) == 1 {
			if given {
				return errors.New("--generation is for generations of a server, not for a file")
			}
			cfg, err := a.loadConfig(args[0])
			if err != nil {
				return err
			}
			return a.printFindings(cfg, offlineFindings(cfg))
		}
		req := &configv1.LintConfigRequest{}
		if given {
			req.Subject = &configv1.LintConfigRequest_Generation{Generation: generation}
		}
		return a.call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
			resp, err := c.Config().LintConfig(ctx, req)
			if err != nil {
				return err
			}
			return a.printFindings(nil, resp)
		})
	}
	return cmd
}

func offlineFindings(cfg *configv1.Config) *configv1.LintConfigResponse {
	core := translate.ConfigFromProto(cfg)
	g, problems := decision.Compile(offlineGeneration, core)
	if problems.HasErrors() {
		return &configv1.LintConfigResponse{Problems: translate.ProblemsToProto(problems)}
	}
	return &configv1.LintConfigResponse{Findings: translate.FindingsToProto(lint.Check(core, g))}
}

// finding is a finding in the tool's JSON output.
type finding struct {
	Code       string  `json:"code"`
	Severity   string  `json:"severity"`
	RuleID     int64   `json:"rule_id,omitempty"`
	Path       string  `json:"path"`
	Message    string  `json:"message"`
	Remedy     string  `json:"remedy"`
	OtherRules []int64 `json:"other_rules,omitempty"`
}

// printFindings prints findings, or the problems that keep a configuration, which may be nil, from being looked at.
func (a *app) printFindings(cfg *configv1.Config, resp *configv1.LintConfigResponse) error {
	if len(resp.GetProblems()) > 0 {
		return errors.Join(a.printProblems(cfg, resp.GetProblems()), errNo)
	}
	warnings := 0
	list := make([]finding, 0, len(resp.GetFindings()))
	for _, f := range resp.GetFindings() {
		out := finding{f.GetCode(), "hint", f.GetRuleId(), f.GetPath(), f.GetMessage(), f.GetRemedy(), f.GetOtherRules()}
		if f.GetSeverity() != configv1.Severity_SEVERITY_HINT {
			out.Severity = "warning"
			warnings++
		}
		list = append(list, out)
	}
	switch {
	case a.output == "json":
		if err := a.printJSON(map[string]any{"findings": list}); err != nil {
			return err
		}
	case len(list) == 0:
		fmt.Fprintln(a.io.Out, "no findings")
	default:
		writeFindings(a.io.Out, list)
	}
	if warnings > 0 {
		return errNo
	}
	return nil
}

// maxOthers is the most other rules that a line for people names.
const maxOthers = 5

// writeFindings prints a finding in two lines: severity, place, message and code; then the remedy.
func writeFindings(w io.Writer, list []finding) {
	for i := range list {
		f := &list[i]
		place := f.Path
		if f.RuleID != 0 {
			place = fmt.Sprintf("rule %d, %s", f.RuleID, f.Path)
		}
		message := f.Message
		others := slices.DeleteFunc(slices.Clone(f.OtherRules), func(id int64) bool { return strings.Contains(message, fmt.Sprintf("rule %d ", id)) })
		if n := len(others); n > 0 {
			message += "; see rules " + strings.Trim(fmt.Sprint(others[:min(n, maxOthers)]), "[]")
			if n > maxOthers {
				message += fmt.Sprintf(" and %d more", n-maxOthers)
			}
		}
		fmt.Fprintf(w, "%s: %s: %s [%s]\n    %s\n", f.Severity, printable(place), printable(message), f.Code, printable(f.Remedy))
	}
}
