package ctl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	client "github.com/pointsman/pointsman/clients/go"
)

// Exit codes: fine, the answer is "no", could not run.
const (
	exitFine = 0
	exitNo   = 1
	exitFail = 2
)

// errNo ends a verb whose answer is "no" after it has printed why.
var errNo = errors.New("no")

// IO is the outside world of a run.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	Getenv   func(string) string
}

// app holds what all verbs share.
type app struct {
	io      IO
	server  string
	output  string
	timeout time.Duration
}

// Main runs one command line and gives the exit code: 0 fine, 1 the answer is "no", 2 could not run.
func Main(ctx context.Context, version string, args []string, world IO) int {
	a := &app{io: world}
	cmd := a.root() //nolint:contextcheck // cobra hands the context to the verbs
	cmd.Version = version
	cmd.SetArgs(args)
	cmd.SetIn(world.In)
	cmd.SetOut(world.Out)
	cmd.SetErr(world.Err)
	refuseUnknownVerbs(cmd)
	err := cmd.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitFine
	case errors.Is(err, errNo):
		return exitNo
	}
	fmt.Fprintf(world.Err, "pointsmanctl: %s\n", printableLines(message(err)))
	return exitFail
}

func (a *app) root() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pointsmanctl",
		Short: "Publish, inspect and test Pointsman configurations",
		Long: "pointsmanctl talks to a Pointsman decision server, or works offline with the same decision core.\n\n" +
			"Exit status: 0 fine, 1 the answer is \"no\" (problems found, a bad line), 2 could not run.",
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if a.output != "text" && a.output != "json" {
				return fmt.Errorf("flag --output: %q is neither text nor json", a.output)
			}
			if a.timeout <= 0 {
				return fmt.Errorf("flag --timeout: %s is no time to wait", a.timeout)
			}
			return nil
		},
	}
	cmd.CompletionOptions.HiddenDefaultCmd = true
	server := a.io.Getenv("POINTSMAN_SERVER")
	if server == "" {
		server = "127.0.0.1:7080"
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&a.server, "server", server, "decision servers, host:port or unix:/path, separated by commas (env POINTSMAN_SERVER)")
	flags.StringVarP(&a.output, "output", "o", "text", "text for people or json, one document")
	flags.DurationVar(&a.timeout, "timeout", 30*time.Second, "time limit of a call to the server")
	cmd.AddCommand(a.publish(), a.validate(), a.get(), a.generations(), a.rollback(), a.route(), a.explain(), a.selectServer(), a.digest(), a.test(), a.lint(), a.guideline())
	return cmd
}

// dial makes a client of the decision servers. The caller closes it.
func (a *app) dial() (*client.Client, error) {
	var addrs []string
	for s := range strings.SplitSeq(a.server, ",") {
		if s = strings.TrimSpace(s); s != "" {
			addrs = append(addrs, s)
		}
	}
	c, err := client.New(client.Options{Addresses: addrs})
	if err != nil {
		return nil, fmt.Errorf("flag --server: %w", err)
	}
	return c, nil
}

// call runs f with a client and the time limit.
func (a *app) call(ctx context.Context, f func(context.Context, *client.Client) error) (err error) {
	c, err := a.dial()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	return f(ctx, c)
}
