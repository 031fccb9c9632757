package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap/zapcore"

	"github.com/pointsman/pointsman/store/internal/zaplog"
)

// Config of a store. Only DataDir is required.
type Config struct {
	// DataDir is made when it is absent. All files are in its folder store and readable by their owner only.
	DataDir string
	// ClientURL is "http://127.0.0.1:PORT" to listen on a loopback port instead of a socket in DataDir. Everybody on
	// the machine can then read and write.
	ClientURL string
	// QuotaBytes is how large the database may grow, 2 GiB when 0.
	QuotaBytes int64
	// LockWait is how long to wait for a store that is just ending, 8 s when 0.
	LockWait time.Duration
	// Logger gets what etcd has to say, its last words before it ends the process included; standard error when nil.
	Logger *slog.Logger
	// Parent, if set, is read, and its end ends the store. A command passes standard input when Supervise started it,
	// that is when the environment has SupervisedEnv.
	Parent io.Reader
	// OnReady, if set, is called once requests are answered.
	OnReady func(endpoint string)
}

// noise is what etcd writes at warning level or above in the ordinary course of starting and ending.
var noise = []string{
	"Running http and grpc server on single port",
	"simple token is not cryptographically signed",
	"serving client traffic insecurely",   // On a socket that only its owner can open, or loopback.
	"missing term information",            // The data of a first start have no version yet.
	"still pending configuration changes", // A member that just joined itself tries again at the next tick.
	"mux: server closed",
	"http: Server closed",
	"use of closed network connection",
}

// Serve runs etcd until ctx or Parent ends, and returns nil then. It returns a *LockedError when
// another store uses the directory. etcd may also end the whole process with exit status 1, after a log line.
func Serve(ctx context.Context, c Config) error {
	if c.Logger == nil {
		c.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	if c.LockWait == 0 {
		c.LockWait = 8 * time.Second
	}
	ctx, cancel := withParent(ctx, c.Parent)
	defer cancel()

	ec, err := etcdConfig(c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(storeDir(c.DataDir), 0o700); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	if err := makePrivate(socketDir(c.DataDir)); err != nil {
		return fmt.Errorf("make folder for sockets: %w", err)
	}
	held, err := lock(ctx, c.DataDir, c.LockWait)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	serveErr := run(ctx, ec, c)
	if err := held.Close(); err != nil {
		serveErr = errors.Join(serveErr, fmt.Errorf("unlock data directory: %w", err))
	}
	return serveErr
}

// run has the lock.
func run(ctx context.Context, ec *embed.Config, c Config) error {
	e, err := embed.StartEtcd(ec)
	if err != nil {
		return fmt.Errorf("start store in %s: %w", c.DataDir, err)
	}
	defer e.Close()
	ready := e.Server.ReadyNotify()
	for {
		select {
		case <-ready:
			ready = nil
			if err := regainSpace(ctx, e, c.Logger); err != nil && ctx.Err() == nil {
				c.Logger.ErrorContext(ctx, "the store could not regain space and takes no writes", "error", err)
			}
			endpoint := ec.ListenClientUrls[0].String()
			c.Logger.InfoContext(ctx, "store is ready", "endpoint", endpoint, "pid", os.Getpid())
			if c.OnReady != nil {
				c.OnReady(endpoint)
			}
		case <-ctx.Done():
			c.Logger.Info("store is ending")
			return nil
		case err := <-e.Err():
			return fmt.Errorf("run store in %s: %w", c.DataDir, err)
		case <-e.Server.StopNotify():
			return fmt.Errorf("run store in %s: etcd stopped", c.DataDir)
		}
	}
}

// etcdConfig is for one member that nobody else joins.
func etcdConfig(c Config) (*embed.Config, error) {
	client, err := clientURL(c)
	if err != nil {
		return nil, err
	}
	ec := embed.NewConfig()
	ec.Name = "pointsman"
	ec.Dir = filepath.Join(storeDir(c.DataDir), "etcd")
	ec.ListenClientUrls = []url.URL{client}
	ec.AdvertiseClientUrls = []url.URL{client}
	ec.ListenPeerUrls = []url.URL{{Scheme: "unix", Path: filepath.Join(socketDir(c.DataDir), peerSocket)}}
	// The advertised address is remembered in the data. It stays the same when the directory moves, and nobody uses it.
	ec.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: "localhost:2380"}}
	ec.InitialCluster = ec.InitialClusterFromName(ec.Name)

	// A single member need not wait long for others before it leads.
	ec.TickMs, ec.ElectionMs = 10, 100
	// The raft log keeps whole values in memory; with chunks of half a megabyte the defaults would keep gigabytes.
	ec.SnapshotCount, ec.SnapshotCatchUpEntries = 200, 20
	ec.AutoCompactionMode, ec.AutoCompactionRetention = embed.CompactorModeRevision, "1000"
	ec.BootstrapDefragThresholdMegabytes = 64
	ec.QuotaBackendBytes = c.QuotaBytes
	ec.EnableGRPCGateway = false
	ec.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zaplog.New(c.Logger, zapcore.WarnLevel, noise...))
	return ec, nil
}

func clientURL(c Config) (url.URL, error) {
	if c.ClientURL == "" {
		return url.URL{Scheme: "unix", Path: filepath.Join(socketDir(c.DataDir), clientSocket)}, nil
	}
	u, err := url.Parse(c.ClientURL)
	if err != nil {
		return url.URL{}, fmt.Errorf("client URL: %w", err)
	}
	addr, err := netip.ParseAddrPort(u.Host)
	if u.Scheme != "http" || err != nil || !addr.Addr().IsLoopback() || addr.Port() == 0 {
		return url.URL{}, fmt.Errorf("client URL %s: it must be http://127.0.0.1:PORT: "+
			"this store has no access control; for more than one machine bring an etcd cluster", c.ClientURL)
	}
	return url.URL{Scheme: u.Scheme, Host: u.Host}, nil
}

// withParent ends the context when there is nothing more to read.
func withParent(ctx context.Context, parent io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if parent != nil {
		go func() { // It ends with the parent, or with the process.
			defer cancel()
			_, _ = io.Copy(io.Discard, parent)
		}()
	}
	return ctx, cancel
}
