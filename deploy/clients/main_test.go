package clients

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	mysql "github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"
)

// full asks for all sizes and all clients, as make test-clients does.
var full = flag.Bool("full", false, "play the whole script with all clients")

const (
	patience  = 60 * time.Second // For everything that should happen soon. Shared machines are slow at times.
	buildTime = 10 * time.Minute // From cold caches it takes minutes.
)

// bin is the folder of the programs under test.
var bin string

func TestMain(m *testing.M) {
	flag.Parse()
	if err := mysql.SetLogger(&mysql.NopLogger{}); err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "clients")
	if err == nil {
		bin = dir
		err = build("./server/cmd/pointsman", "./gateway/cmd/pointsman-gateway", "./clients/cmd/pointsmanctl")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, errors.Join(err, os.RemoveAll(dir)))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := os.RemoveAll(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(code)
	}))
}

// build puts programs of this module in bin.
func build(packages ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), buildTime)
	defer cancel()
	args := append([]string{"build", "-buildvcs=false", "-o", bin + string(filepath.Separator)}, packages...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	return nil
}

// need skips a test whose client is not installed. Where everything must be there it fails.
func need(tb testing.TB, what string, present bool) {
	tb.Helper()
	switch {
	case present:
	case os.Getenv("CI") == "true":
		tb.Fatalf("%s is not installed; .ci/deps installs it", what)
	default:
		tb.Skipf("NOT TESTED: %s is not installed; .ci/deps installs it, .ci/deps clients for all clients", what)
	}
}

// found says whether a program is on PATH.
func found(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}
