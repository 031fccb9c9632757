package ctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	client "github.com/pointsman/pointsman/clients/go"
	decisionv1 "github.com/pointsman/pointsman/proto/pointsman/decision/v1"
	"github.com/pointsman/pointsman/server/translate"
)

func (a *app) explain() *cobra.Command {
	var (
		config, textFile string
		ask              question
		all              bool
	)
	cmd := &cobra.Command{
		Use:   "explain [SQL]",
		Short: "Tell the whole way of a statement, rule by rule",
		Long: "Tell the whole way of a statement: every rule that was looked at and what it failed on, what rules set and what\n" +
			"overrode it, rewrites, the fast route, annotations, and why the answer may be reused no further. Offline by a\n" +
			"configuration file (--config), else by the server.",
	}
	f := cmd.Flags()
	f.StringVar(&config, "config", "", "explain offline by this configuration file")
	ask.flags(f)
	f.StringVar(&textFile, "text-file", "", "read the statement from this file (- is standard input), byte for byte")
	f.BoolVar(&all, "all", false, "a line for every rule: also for those that wait for another flag, and for neighbours that fail on the same column")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		text, err := a.statement(args, textFile)
		if err != nil {
			return err
		}
		req, err := ask.request(text)
		if err != nil {
			return err
		}
		gen, err := a.offline(config)
		if err != nil {
			return err
		}
		var resp *decisionv1.ExplainStatementResponse
		if gen != nil {
			r := router{gen: gen}
			resp, err = r.explain(req)
		} else {
			err = a.call(cmd.Context(), func(ctx context.Context, c *client.Client) error {
				resp, err = c.Decision().ExplainStatement(ctx, req)
				return err
			})
		}
		if err != nil {
			return err
		}
		if a.output == "json" {
			return a.printProto(resp)
		}
		p := printer{all: all, execute: req.GetStatement().GetCommand() == decisionv1.Command_COMMAND_EXECUTE}
		p.print(resp)
		_, err = io.WriteString(a.io.Out, p.out.String())
		return err
	}
	return cmd
}

// statement gives the statement of the arguments or of a file.
func (a *app) statement(args []string, path string) ([]byte, error) {
	switch {
	case path == "" && len(args) == 0:
		return nil, errors.New("no statement given; write it as an argument, or use --text-file")
	case path == "":
		return []byte(strings.Join(args, " ")), nil
	case len(args) > 0:
		return nil, errors.New("flag --text-file reads the statement from a file, so there can be none in the arguments")
	case path == "-":
		text, err := io.ReadAll(a.io.In)
		if err != nil {
			return nil, fmt.Errorf("read the statement from standard input: %w", err)
		}
		return text, nil
	}
	text, err := os.ReadFile(path) //nolint:gosec // the user names the file
	if err != nil {
		return nil, fmt.Errorf("read the statement: %w", err)
	}
	return text, nil
}

func (r *router) explain(req *decisionv1.RouteStatementRequest) (*decisionv1.ExplainStatementResponse, error) {
	if err := r.ask(req); err != nil {
		return nil, err
	}
	x, err := r.gen.Explain(&r.question)
	if err != nil {
		return nil, badLine("%v", err)
	}
	resp := translate.ExplanationToProto(x)
	resp.Answer.RequestId, resp.Answer.SessionAttributes = req.GetRequestId(), r.gen.SessionAttributes()
	return resp, nil
}
