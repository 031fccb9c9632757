package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Config is how a gateway runs.
type Config struct {
	Listen          string
	Decision        []string
	Admin           string
	StateDir        string
	MaxConnections  int
	DecisionTimeout time.Duration
	DrainTimeout    time.Duration
	LogLevel        string
	LogFormat       string
}

// envPrefix begins the environment variable of each flag.
const envPrefix = "POINTSMAN_GATEWAY_"

// Main runs the command line and gives the exit status: 0 for an orderly end, 1 for what failed later, 2 for what
// could not be started. The first signal drains, the second ends at once.
func Main(ctx context.Context, version string, args, environ []string, stdout, stderr io.Writer, signals <-chan os.Signal) int {
	var cfg Config
	cmd := &cobra.Command{
		Use:   "pointsman-gateway",
		Short: "MySQL gateway that routes by Pointsman's decisions",
		Long: "pointsman-gateway takes MySQL clients, asks the decision service where their statements go, caches the\n" +
			"answers per session class, and relays the traffic without decoding rows.\n\n" +
			"Every flag can also be given as an environment variable, e.g. POINTSMAN_GATEWAY_LISTEN for --listen.",
		Version: version, SilenceErrors: true, SilenceUsage: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := fromEnvironment(cmd.Flags(), environ); err != nil {
				return &startError{err}
			}
			log, err := newLogger(cfg, stderr)
			if err != nil {
				return &startError{err}
			}
			return Run(cmd.Context(), cfg, log, signals)
		},
	}
	f := cmd.Flags()
	f.StringVar(&cfg.Listen, "listen", "127.0.0.1:6033", "address for MySQL clients, host:port or unix:/path")
	f.StringSliceVar(&cfg.Decision, "decision", []string{"127.0.0.1:7080"}, "decision servers, host:port or unix:/path, separated by commas")
	f.StringVar(&cfg.Admin, "admin", "127.0.0.1:6034", "address of metrics and health; empty: none")
	f.StringVar(&cfg.StateDir, "state-dir", "", "folder of the last good configuration, for starts without a decision server; empty: none is kept")
	f.IntVar(&cfg.MaxConnections, "max-connections", 10_000, "client connections at once")
	f.DurationVar(&cfg.DecisionTimeout, "decision-timeout", 250*time.Millisecond, "how long a statement waits for a decision before the last good one or the user's default hostgroup counts")
	f.DurationVar(&cfg.DrainTimeout, "drain-timeout", 10*time.Second, "how long sessions may finish transactions at the end")
	f.StringVar(&cfg.LogLevel, "log-level", "info", "debug, info, warn or error")
	f.StringVar(&cfg.LogFormat, "log-format", "text", "text or json")
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	var start *startError
	var run *runError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &run):
		fmt.Fprintf(stderr, "pointsman-gateway: %v\n", err)
		return 1
	case errors.As(err, &start):
		fmt.Fprintf(stderr, "pointsman-gateway: %v\n", err)
	default:
		fmt.Fprintf(stderr, "pointsman-gateway: %v (see --help)\n", err)
	}
	return 2
}

// startError says why the gateway could not be started.
type startError struct{ err error }

func (e *startError) Error() string { return e.err.Error() }
func (e *startError) Unwrap() error { return e.err }

// runError says why a running gateway ended.
type runError struct{ err error }

func (e *runError) Error() string { return e.err.Error() }
func (e *runError) Unwrap() error { return e.err }

// fromEnvironment sets the flags that are not given from their variables. An unknown variable is an error: most likely
// it is misspelt.
func fromEnvironment(flags *pflag.FlagSet, environ []string) error {
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		rest, ours := strings.CutPrefix(name, envPrefix)
		if !ours {
			continue
		}
		f := flags.Lookup(strings.ToLower(strings.ReplaceAll(rest, "_", "-")))
		if f == nil || f.Name == "help" || f.Name == "version" {
			return fmt.Errorf("environment variable %s: there is no such setting", name)
		}
		if f.Changed {
			continue // the command line wins
		}
		if err := flags.Set(f.Name, value); err != nil {
			return fmt.Errorf("environment variable %s: %w", name, err)
		}
	}
	return nil
}

func newLogger(cfg Config, w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.LogLevel)); err != nil {
		return nil, fmt.Errorf("flag --log-level: %q is none of debug, info, warn, error", cfg.LogLevel)
	}
	opts := &slog.HandlerOptions{Level: level}
	switch cfg.LogFormat {
	case "text":
		return slog.New(slog.NewTextHandler(w, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, opts)), nil
	}
	return nil, fmt.Errorf("flag --log-format: %q is neither text nor json", cfg.LogFormat)
}
