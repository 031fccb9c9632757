package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pointsman/pointsman/clients/settings"
	"github.com/pointsman/pointsman/server/monitor"
	"github.com/pointsman/pointsman/server/resolve"
)

// minInterval bounds how often servers and names are looked at.
const minInterval = 100 * time.Millisecond

// config is what the flags say.
type config struct {
	settings.Common

	dataDir       string
	listen        []string
	admin         string
	store         string
	etcdEndpoints []string
	etcdPrefix    string
	etcdCA        string
	etcdCert      string
	etcdKey       string

	monitorUsername     string
	monitorPasswordFile string
	monitorTLSCA        string
	monitorInterval     time.Duration
	resolveInterval     time.Duration
}

func (c *config) addCommonFlags(f *pflag.FlagSet, environ []string) {
	f.StringVar(&c.dataDir, "data-dir", defaultDataDir(environ), "where the embedded store and the last good generation are kept; made when absent")
	c.AddFlags(f)
}

func (c *config) addServeFlags(f *pflag.FlagSet, environ []string) {
	c.addCommonFlags(f, environ)
	f.StringSliceVar(&c.listen, "listen", []string{"127.0.0.1:7080"}, "host:port or unix:/path of the gRPC services; may be repeated")
	f.StringVar(&c.admin, "admin", "127.0.0.1:7081", "host:port of the HTTP pages for operators: /metrics, /healthz, /readyz, /debug/pprof/; empty: none")
	f.StringVar(&c.store, "store", "embedded", "embedded: an etcd of its own in --data-dir; etcd: the one at --etcd-endpoints")
	f.StringSliceVar(&c.etcdEndpoints, "etcd-endpoints", nil, "etcd's addresses for --store=etcd, e.g. https://etcd1:2379; may be repeated")
	f.StringVar(&c.etcdPrefix, "etcd-prefix", "/pointsman/v1", "what all keys in etcd begin with")
	f.StringVar(&c.etcdCA, "etcd-ca", "", "file with the CA certificates that etcd's certificate is checked against")
	f.StringVar(&c.etcdCert, "etcd-cert", "", "file with this server's client certificate for etcd")
	f.StringVar(&c.etcdKey, "etcd-key", "", "file with the key of --etcd-cert")
	f.StringVar(&c.monitorUsername, "monitor-username", "", "MySQL user that looks at the health and the role of servers while a routing guideline is in force; empty: nobody looks")
	f.StringVar(&c.monitorPasswordFile, "monitor-password-file", "", "file with the password of --monitor-username; empty: it has none")
	f.StringVar(&c.monitorTLSCA, "monitor-tls-ca", "", "file with the CA certificates that those of servers with use_ssl are checked against, and their names; empty: neither is checked")
	f.DurationVar(&c.monitorInterval, "monitor-interval", monitor.DefaultInterval, "how often servers are looked at")
	f.DurationVar(&c.resolveInterval, "resolve-interval", resolve.DefaultInterval, "how often the names that a routing guideline resolves are looked up")
}

// defaultDataDir is where the system keeps state: of services for root, else of the user.
func defaultDataDir(environ []string) string {
	if os.Geteuid() == 0 {
		return "/var/lib/pointsman"
	}
	if state, ok := settings.Lookup(environ, "XDG_STATE_HOME"); ok && filepath.IsAbs(state) {
		return filepath.Join(state, "pointsman")
	}
	home, _ := settings.Lookup(environ, "HOME")
	return filepath.Join(home, ".local/state/pointsman")
}

// complete fills in what the environment and the settings file say, checks all, makes the logger and logs the
// settings in force.
func (c *config) complete(ctx context.Context, cmd *cobra.Command, environ []string, stderr io.Writer) (*slog.Logger, error) {
	if err := c.Complete(cmd, environ); err != nil {
		return nil, err
	}
	if err := c.check(cmd.Name()); err != nil {
		return nil, err
	}
	return c.Logger(ctx, cmd, stderr, c.shown)
}

// shown is a flag's value without secrets.
func (c *config) shown(f *pflag.Flag) string {
	if f.Name != "etcd-endpoints" {
		return f.Value.String()
	}
	shown := make([]string, len(c.etcdEndpoints))
	for i, e := range c.etcdEndpoints {
		shown[i] = e
		if u, err := url.Parse(e); err == nil {
			shown[i] = u.Redacted()
		}
	}
	return "[" + strings.Join(shown, ",") + "]"
}

func (c *config) check(command string) error {
	if c.dataDir == "" {
		return errors.New("flag --data-dir: it must not be empty")
	}
	if command != "serve" {
		return nil
	}
	switch {
	case len(c.listen) == 0:
		return errors.New("flag --listen: at least one address is required")
	case c.store != "embedded" && c.store != "etcd":
		return fmt.Errorf("flag --store: %q is neither embedded nor etcd", c.store)
	case c.store == "etcd" && len(c.etcdEndpoints) == 0:
		return errors.New("flag --etcd-endpoints: required with --store=etcd")
	case slices.ContainsFunc(c.etcdEndpoints, func(e string) bool { return strings.TrimSpace(e) == "" }):
		return errors.New("flag --etcd-endpoints: an address is empty")
	case c.store == "embedded" && (len(c.etcdEndpoints) > 0 || c.etcdCA != "" || c.etcdCert != "" || c.etcdKey != ""):
		return errors.New("flags --etcd-endpoints, --etcd-ca, --etcd-cert and --etcd-key are for --store=etcd")
	case !strings.HasPrefix(c.etcdPrefix, "/") || strings.Trim(c.etcdPrefix, "/") == "":
		return fmt.Errorf("flag --etcd-prefix: %q does not begin with / and a name", c.etcdPrefix)
	case (c.etcdCert == "") != (c.etcdKey == ""):
		return errors.New("flags --etcd-cert and --etcd-key belong together")
	case c.monitorPasswordFile != "" && c.monitorUsername == "":
		return errors.New("flag --monitor-password-file: it is for --monitor-username, which is missing")
	case c.monitorTLSCA != "" && c.monitorUsername == "":
		return errors.New("flag --monitor-tls-ca: it is for --monitor-username, which is missing")
	case c.monitorInterval < minInterval:
		return fmt.Errorf("flag --monitor-interval: %v is too short, the least is %v", c.monitorInterval, minInterval)
	case c.resolveInterval < minInterval:
		return fmt.Errorf("flag --resolve-interval: %v is too short, the least is %v", c.resolveInterval, minInterval)
	}
	return nil
}

// monitorPassword reads --monitor-password-file. A newline at its end is not part of the password.
func (c *config) monitorPassword() (string, error) {
	if c.monitorPasswordFile == "" {
		return "", nil
	}
	b, err := os.ReadFile(c.monitorPasswordFile)
	if err != nil {
		return "", fmt.Errorf("flag --monitor-password-file: %w", err)
	}
	return strings.TrimRight(string(b), "\r\n"), nil
}

// monitorTLS is for servers that have use_ssl.
func (c *config) monitorTLS() (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: c.monitorTLSCA == ""} //nolint:gosec // as MySQL's own clients do by default
	if c.monitorTLSCA == "" {
		return t, nil
	}
	var err error
	if t.RootCAs, err = authorities("monitor-tls-ca", c.monitorTLSCA); err != nil {
		return nil, err
	}
	return t, nil
}

// authorities reads a flag's file of certificates.
func authorities(flag, path string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(path) //nolint:gosec // the operator's own flag
	if err != nil {
		return nil, fmt.Errorf("flag --%s: %w", flag, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("flag --%s: %s holds no PEM certificate", flag, path)
	}
	return pool, nil
}

// etcdTLS is nil for plain connections.
func (c *config) etcdTLS() (*tls.Config, error) {
	if c.etcdCA == "" && c.etcdCert == "" {
		return nil, nil
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.etcdCA != "" {
		var err error
		if t.RootCAs, err = authorities("etcd-ca", c.etcdCA); err != nil {
			return nil, err
		}
	}
	if c.etcdCert != "" {
		pair, err := tls.LoadX509KeyPair(c.etcdCert, c.etcdKey)
		if err != nil {
			return nil, fmt.Errorf("flags --etcd-cert and --etcd-key: %w", err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}
