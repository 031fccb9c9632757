package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pointsman/pointsman/clients/settings"
	"github.com/pointsman/pointsman/gateway/route"
)

// Config is how a gateway runs.
type Config struct {
	settings.Common

	Listen          []string
	Decision        []string
	Admin           string
	StateDir        string
	MaxConnections  int
	MaxHandshakes   int
	DecisionTimeout time.Duration
	Fallback        string
	DrainTimeout    time.Duration
	DrainWait       time.Duration

	ProxyNetworks []string // of proxies that send the PROXY protocol's header

	// TLS with clients, and with servers that have use_ssl.
	TLSCert         string
	TLSKey          string
	TLSMode         string
	ServerTLSCA     string
	ServerTLSVerify string
	ServerTLSCert   string
	ServerTLSKey    string

	// What routing guidelines see as $.router.
	Name         string
	Hostname     string
	LocalCluster string
	Tags         string

	inForce map[string]string // the flags' values by name, for operators
}

func (c *Config) addFlags(f *pflag.FlagSet) {
	f.StringSliceVar(&c.Listen, "listen", []string{"127.0.0.1:6033"},
		"addresses for MySQL clients, [NAME=]host:port or [NAME=]unix:/path; may be repeated; guidelines see NAME (default) as $.router.routeName")
	f.StringSliceVar(&c.Decision, "decision", []string{"127.0.0.1:7080"}, "decision servers, host:port or unix:/path; may be repeated")
	f.StringVar(&c.Admin, "admin", "127.0.0.1:6034", "host:port of the HTTP pages for operators, listed at /; empty: none")
	f.StringVar(&c.StateDir, "state-dir", "", "folder of the last good configuration, for starts without a decision server; made when absent; empty: none is kept")
	f.IntVar(&c.MaxConnections, "max-connections", 10_000, "client connections at once")
	f.DurationVar(&c.DecisionTimeout, "decision-timeout", 5*time.Millisecond,
		"how long a statement waits for its decision, plus 1ms for each 4 KiB of its text; then --decision-fallback counts for it")
	f.StringVar(&c.Fallback, "decision-fallback", string(route.FallbackStale),
		"what counts without a decision: stale (the last good answer, else the user's default hostgroup), default (always the default hostgroup) or error (the statement is refused)")
	f.IntVar(&c.MaxHandshakes, "max-handshakes", 500, "clients that are verified at once, beyond which others wait for their turn; those that have not answered the greeting do not count")
	f.StringSliceVar(&c.ProxyNetworks, "proxy-protocol-networks", nil,
		"networks of proxies, e.g. 10.1.0.0/16: connections from there must begin with a header of the PROXY protocol, version 1 or 2; may be repeated")
	f.StringVar(&c.TLSCert, "tls-cert", "", "PEM file with the certificate for clients, and those between it and its authority; read again when it changes; empty: no TLS")
	f.StringVar(&c.TLSKey, "tls-key", "", "PEM file with the key of --tls-cert")
	f.StringVar(&c.TLSMode, "tls-mode", "", "disabled; preferred: clients may use TLS; required: they must, but on Unix sockets; empty: preferred with --tls-cert, else disabled")
	f.StringVar(&c.ServerTLSCA, "server-tls-ca", "", "PEM file with the authorities that the certificates of servers with use_ssl are checked against")
	f.StringVar(&c.ServerTLSVerify, "server-tls-verify", "", "what of a server's certificate is checked: none, ca (who has signed it) or identity (also the name); empty: identity with --server-tls-ca, else none")
	f.StringVar(&c.ServerTLSCert, "server-tls-cert", "", "PEM file with the gateway's own certificate for servers that ask for one; read again when it changes")
	f.StringVar(&c.ServerTLSKey, "server-tls-key", "", "PEM file with the key of --server-tls-cert")
	f.DurationVar(&c.DrainWait, "drain-wait", 0, "how long new clients are still taken at the end while /readyz says draining, so that load balancers can notice")
	f.DurationVar(&c.DrainTimeout, "drain-timeout", 10*time.Second, "how long sessions may go on with their transactions at the end")
	f.StringVar(&c.Name, "name", "", "name of this gateway, for guidelines $.router.name; empty: the host's name")
	f.StringVar(&c.Hostname, "hostname", "", "name of the host, for guidelines $.router.hostname; empty: as the system says")
	f.StringVar(&c.LocalCluster, "local-cluster", "", "name of the cluster near this gateway, for guidelines $.router.localCluster")
	f.StringVar(&c.Tags, "tags", "", `tags of this gateway, for guidelines $.router.tags: a JSON object, e.g. {"zone":"a"}`)
	c.AddFlags(f)
}

func (c *Config) check() error {
	switch {
	case c.MaxConnections < 1:
		return fmt.Errorf("flag --max-connections: %d is below 1", c.MaxConnections)
	case c.MaxHandshakes < 1:
		return fmt.Errorf("flag --max-handshakes: %d is below 1", c.MaxHandshakes)
	case c.DecisionTimeout <= 0:
		return fmt.Errorf("flag --decision-timeout: %s is not above 0", c.DecisionTimeout)
	case c.fallback() != nil:
		return fmt.Errorf("flag --decision-fallback: %w", c.fallback())
	case c.DrainTimeout < 0:
		return fmt.Errorf("flag --drain-timeout: %s is below 0", c.DrainTimeout)
	case c.DrainWait < 0:
		return fmt.Errorf("flag --drain-wait: %s is below 0", c.DrainWait)
	case len(c.Listen) == 0:
		return errors.New("flag --listen: at least one address is required")
	case len(c.Decision) == 0:
		return errors.New("flag --decision: at least one address is required")
	}
	return c.checkTLS()
}

func (c *Config) fallback() error {
	_, err := route.ParseFallback(c.Fallback)
	return err
}

// Main runs the command line and gives the exit status: 0 for an orderly end, 1 for what failed later, 2 for what
// could not be started. environ is in the form of os.Environ. The first signal drains, the second ends at once. Logs
// and the one line that says what is wrong go to stderr, help to stdout.
func Main(ctx context.Context, version string, args, environ []string, stdout, stderr io.Writer, signals <-chan os.Signal) int {
	var c Config
	cmd := &cobra.Command{
		Use:   "pointsman-gateway",
		Short: "MySQL gateway that routes by Pointsman's decisions",
		Long: "Take MySQL clients, ask the decision service where their statements go, keep its answers, and relay the\n" +
			"traffic without decoding rows.\n\n" +
			"Every flag can also be given in the environment, as POINTSMAN_ and the flag's name in capitals with _ for -,\n" +
			"e.g. POINTSMAN_STATE_DIR, or in a YAML file (--settings) by its name. A flag wins over the environment, the\n" +
			"environment over the file.",
		Version: version, SilenceErrors: true, SilenceUsage: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.Complete(cmd, environ); err != nil {
				return err
			}
			if err := c.check(); err != nil {
				return err
			}
			log, err := c.Logger(ctx, cmd, stderr, func(f *pflag.Flag) string { return f.Value.String() })
			if err != nil {
				return err
			}
			c.inForce = map[string]string{}
			cmd.Flags().VisitAll(func(f *pflag.Flag) {
				if f.Name != "help" && f.Name != "version" {
					c.inForce[f.Name] = f.Value.String()
				}
			})
			return Run(ctx, c, log, signals)
		},
	}
	c.addFlags(cmd.Flags())
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.Execute()
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "pointsman-gateway: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	if _, ran := errors.AsType[*runError](err); ran {
		return 1
	}
	return 2
}

// runError says why a running gateway ended.
type runError struct{ err error }

func (e *runError) Error() string { return e.err.Error() }
func (e *runError) Unwrap() error { return e.err }
