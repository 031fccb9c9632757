package ctl

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	client "github.com/pointsman/pointsman/clients/go"
	"github.com/pointsman/pointsman/decision"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
	"github.com/pointsman/pointsman/server/translate"
)

// history holds the flags of verbs that make a generation.
type history struct {
	expected     uint64
	author, note string
}

func (h *history) flags(cmd *cobra.Command, getenv func(string) string) {
	cmd.Flags().Uint64Var(&h.expected, "expected-generation", 0, "publish only if this generation is the current one (0: none yet)")
	h.signature(cmd, getenv)
}

// signature adds the flags of verbs that find out themselves which generation they replace.
func (h *history) signature(cmd *cobra.Command, getenv func(string) string) {
	cmd.Flags().StringVar(&h.author, "author", getenv("USER"), "who publishes")
	cmd.Flags().StringVar(&h.note, "note", "", "why")
}

func (h *history) expectation(cmd *cobra.Command) *uint64 {
	if !cmd.Flags().Changed("expected-generation") {
		return nil
	}
	return &h.expected
}

func (a *app) publish() *cobra.Command {
	var h history
	cmd := &cobra.Command{
		Use:   "publish FILE",
		Short: "Publish a configuration as the next generation",
		Long:  "Publish a configuration (YAML or JSON, - is standard input) as the next generation.\nWith errors in it nothing changes: all of them are listed and the exit status is 1.",
		Args:  cobra.ExactArgs(1),
	}
	h.flags(cmd, a.io.Getenv)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cfg, err := a.loadConfig(args[0])
		if err != nil {
			return err
		}
		return a.call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
			return a.publishConfig(ctx, c, &configv1.PublishConfigRequest{
				Config: cfg, ExpectedGeneration: h.expectation(cmd), Author: h.author, Note: h.note,
			})
		})
	}
	return cmd
}

// publishConfig publishes and prints what came of it.
func (a *app) publishConfig(ctx context.Context, c *client.Client, req *configv1.PublishConfigRequest) error {
	resp, err := c.Config().PublishConfig(ctx, req)
	if problems := refusal(err); problems != nil {
		err := a.printProblems(req.GetConfig(), problems)
		a.warnOfState(ctx, c)
		return err
	}
	if err != nil {
		return err
	}
	if a.output == "json" {
		return a.printPublished(resp.GetGeneration(), resp.GetDigest(), resp.GetProblems())
	}
	writeProblems(a.io.Out, req.GetConfig(), resp.GetProblems())
	fmt.Fprintf(a.io.Out, "published generation %d (%s)\n", resp.GetGeneration(), short(resp.GetDigest()))
	return nil
}

func (a *app) printPublished(generation uint64, digest string, problems []*configv1.Problem) error {
	return a.printJSON(struct {
		Generation uint64    `json:"generation,string"`
		Digest     string    `json:"digest"`
		Problems   []problem `json:"problems"`
	}{generation, digest, problemList(problems)})
}

// refusal gives the problems that a refused publication carries, nil if err is something else.
func refusal(err error) []*configv1.Problem {
	for _, d := range status.Convert(err).Details() {
		if p, ok := d.(*configv1.ConfigProblems); ok {
			return p.GetProblems()
		}
	}
	return nil
}

// printProblems prints problems of a configuration, which may be nil, and ends the verb with "no" if one is an error.
func (a *app) printProblems(cfg *configv1.Config, problems []*configv1.Problem) error {
	if a.output == "json" {
		if err := a.printJSON(map[string]any{"problems": problemList(problems)}); err != nil {
			return err
		}
	} else {
		writeProblems(a.io.Out, cfg, problems)
	}
	if hasErrors(problems) {
		return errNo
	}
	return nil
}

func (a *app) validate() *cobra.Command {
	return &cobra.Command{
		Use:   "validate FILE",
		Short: "Find all problems of a configuration",
		Long: "Find all problems of a configuration (YAML or JSON, - is standard input). Works offline, with the\n" +
			"same code as the server; with --server given, the server is asked, which also knows stored passwords.\n" +
			"Exit status 1 when a problem is an error; 2 when the file can't be read as a configuration.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := a.loadConfig(args[0])
			if err != nil {
				return err
			}
			problems := offlineProblems(cfg)
			if cmd.Flags().Changed("server") {
				err := a.call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
					resp, err := c.Config().ValidateConfig(ctx, &configv1.ValidateConfigRequest{Config: cfg})
					problems = resp.GetProblems()
					return err
				})
				if err != nil {
					return err
				}
			}
			if len(problems) == 0 && a.output == "text" {
				fmt.Fprintln(a.io.Out, "no problems")
			}
			return a.printProblems(cfg, problems)
		},
	}
}

func offlineProblems(cfg *configv1.Config) []*configv1.Problem {
	_, problems := decision.Compile(offlineGeneration, translate.ConfigFromProto(cfg))
	return translate.ProblemsToProto(problems)
}

func (a *app) get() *cobra.Command {
	var number uint64
	cmd := &cobra.Command{
		Use:   "get",
		Short: "Print a stored configuration",
		Long: "Print a stored configuration as a document that can be edited and published again. Passwords are left\n" +
			"out; publishing the document keeps the stored ones.",
		Args: cobra.NoArgs,
	}
	cmd.Flags().Uint64Var(&number, "generation", 0, "the generation (the current one)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		req := &configv1.GetConfigRequest{}
		if cmd.Flags().Changed("generation") {
			req.Generation = &number
		}
		return a.call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
			resp, err := c.Config().GetConfig(ctx, req)
			switch {
			case status.Code(err) == codes.NotFound && req.Generation == nil:
				return errors.New("nothing is published yet")
			case err != nil:
				return err
			}
			if a.output == "json" {
				return a.printProto(resp)
			}
			g := resp.GetGeneration()
			fmt.Fprintf(a.io.Out, "# generation %d, published %s%s%s\n", g.GetGeneration(), when(g), comment(" by ", g.GetAuthor()), comment(": ", g.GetNote()))
			text, err := formatConfig(resp.GetConfig())
			if err != nil {
				return err
			}
			_, err = a.io.Out.Write(text)
			return err
		})
	}
	return cmd
}

func (a *app) generations() *cobra.Command {
	var limit uint32
	cmd := &cobra.Command{
		Use:   "generations",
		Short: "List the stored generations, newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				resp, err := c.Config().ListGenerations(ctx, &configv1.ListGenerationsRequest{Limit: limit})
				if err != nil {
					return err
				}
				if a.output == "json" {
					return a.printProto(resp)
				}
				w := tabwriter.NewWriter(a.io.Out, 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "GENERATION\tPUBLISHED\tAUTHOR\tBYTES\tDIGEST\tNOTE")
				for _, g := range resp.GetGenerations() {
					mark := ""
					if g.GetGeneration() == resp.GetRunningGeneration() {
						mark = " *"
					}
					note := g.GetNote()
					if g.GetRollbackOf() != 0 {
						note = strings.TrimSpace(fmt.Sprintf("rollback to %d %s", g.GetRollbackOf(), note))
					}
					fmt.Fprintf(w, "%d%s\t%s\t%s\t%d\t%s\t%s\n", g.GetGeneration(), mark, when(g), printable(g.GetAuthor()), g.GetSizeBytes(), short(g.GetDigest()), printable(note))
				}
				if err := w.Flush(); err != nil {
					return err
				}
				a.warnOfState(ctx, c)
				return nil
			})
		},
	}
	cmd.Flags().Uint32Var(&limit, "limit", 20, "at most so many; 0: all")
	return cmd
}

func (a *app) rollback() *cobra.Command {
	var h history
	cmd := &cobra.Command{
		Use:   "rollback GENERATION",
		Short: "Publish an old generation's configuration again, as a new generation",
		Args:  cobra.ExactArgs(1),
	}
	h.flags(cmd, a.io.Getenv)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		number, err := strconv.ParseUint(args[0], 10, 64)
		if err != nil || number == 0 {
			return fmt.Errorf("argument GENERATION: %q is no generation number", args[0])
		}
		return a.call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
			resp, err := c.Config().RollbackConfig(ctx, &configv1.RollbackConfigRequest{
				Generation: number, ExpectedGeneration: h.expectation(cmd), Author: h.author, Note: h.note,
			})
			if problems := refusal(err); problems != nil {
				return errors.Join(a.printProblems(nil, problems), errNo)
			}
			if err != nil {
				return err
			}
			if a.output == "json" {
				return a.printProto(resp)
			}
			fmt.Fprintf(a.io.Out, "published generation %d (%s): the configuration of generation %d\n", resp.GetGeneration(), short(resp.GetDigest()), number)
			return nil
		})
	}
	return cmd
}

func when(g *configv1.Generation) string {
	if g.GetCreateTime() == nil {
		return "-"
	}
	return g.GetCreateTime().AsTime().UTC().Format(time.DateTime) + "Z"
}

func comment(before, text string) string {
	if text == "" {
		return ""
	}
	return before + printable(strings.Join(strings.Fields(text), " "))
}

// short shortens a sha256 for people.
func short(digest string) string { return digest[:min(len(digest), 12)] }
