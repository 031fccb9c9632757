package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pointsman/pointsman/clients/settings"
	"github.com/pointsman/pointsman/store/embedded"
)

// exitUsage is the exit status when the command could not be started as it was given.
const exitUsage = 2

// exitError ends the process with a status of its own.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// Main runs the command that args name and returns the exit status: 0 for an orderly end, 2 for what could not be
// started (wrong flags, a taken port or data directory), 1 for what failed later; 75 when `pointsman store` finds its
// data directory in use. environ is in the form of os.Environ. Logs and the one line that says what is wrong go to
// stderr, help to stdout.
func Main(ctx context.Context, version string, args, environ []string, stdout, stderr io.Writer) int {
	cmd := rootCommand(ctx, version, environ, stderr)
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.Execute()
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "pointsman: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	if exit, ok := errors.AsType[*exitError](err); ok {
		return exit.code
	}
	return exitUsage
}

func rootCommand(ctx context.Context, version string, environ []string, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:   "pointsman",
		Short: "The routing brain for MySQL fleets",
		Long: "The routing brain for MySQL fleets: a decision service for ProxySQL-like query rules.\n\n" +
			"Every flag can also be given in the environment, as POINTSMAN_ and the flag's name in capitals with _ for -,\n" +
			"e.g. POINTSMAN_DATA_DIR, or in a YAML file (--settings) by its name. A flag wins over the environment, the\n" +
			"environment over the file.",
		Version:           version,
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.AddCommand(serveCommand(ctx, version, environ, stderr), storeCommand(ctx, environ, stderr))
	return root
}

func serveCommand(ctx context.Context, version string, environ []string, stderr io.Writer) *cobra.Command {
	var c config
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answer questions about statements",
		Long: "Answer the gRPC services pointsman.decision.v1.DecisionService and pointsman.config.v1.ConfigService.\n\n" +
			"Configurations are kept in etcd: in one that this command starts and keeps running as a child process, with\n" +
			"its data in --data-dir (--store=embedded), or in yours (--store=etcd). Without the store the server goes on\n" +
			"deciding with the last good generation, also after a restart.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := c.complete(ctx, cmd, environ, stderr)
			if err != nil {
				return err
			}
			return serve(ctx, &c, log, version)
		},
	}
	c.addServeFlags(cmd.Flags(), environ)
	return cmd
}

func storeCommand(ctx context.Context, environ []string, stderr io.Writer) *cobra.Command {
	var c config
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Run the embedded etcd alone",
		Long: "Run the embedded etcd alone, with its data and its socket in --data-dir. `pointsman serve` does this by\n" +
			"itself; on its own it is of use for repairs with etcdctl.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log, err := c.complete(ctx, cmd, environ, stderr)
			if err != nil {
				return err
			}
			cfg := embedded.Config{DataDir: c.dataDir, Logger: log}
			if value, ok := settings.Lookup(environ, embedded.SupervisedEnv); ok && value != "" {
				cfg.Parent = os.Stdin // ends with the parent
			}
			if err := embedded.Serve(ctx, cfg); err != nil {
				return &exitError{code: embedded.ExitCode(err), err: err}
			}
			return nil
		},
	}
	c.addCommonFlags(cmd.Flags(), environ)
	return cmd
}

// self is the path of this program, to start it again as a child.
func self() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find own program: %w", err)
	}
	return exe, nil
}
