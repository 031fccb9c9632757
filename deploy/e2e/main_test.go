package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	mysql "github.com/go-sql-driver/mysql"
	"go.uber.org/goleak"
)

const (
	// patience bounds every wait for something that should happen soon. Shared machines are slow at times.
	patience = 60 * time.Second
	// buildTime bounds a build; from cold caches it takes minutes.
	buildTime = 10 * time.Minute
)

// bin is the folder of the programs under test.
var bin string

func TestMain(m *testing.M) {
	// Broken connections are what some tests are about.
	if err := mysql.SetLogger(&mysql.NopLogger{}); err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "e2e")
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

// build puts programs of this module and of its dependencies in bin, with the race detector if this test has it.
func build(packages ...string) error {
	args := []string{"build", "-buildvcs=false"}
	if raceDetector {
		args = append(args, "-race")
	}
	return goTool(append(append(args, "-o", bin+string(filepath.Separator)), packages...)...)
}

// goTool runs the go command in the module's folder.
func goTool(args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), buildTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join("..", "..")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	return nil
}

// need skips a test whose tools are not installed. On CI they must be.
func need(tb testing.TB, what string, present bool) {
	tb.Helper()
	switch {
	case present:
	case os.Getenv("CI") == "true":
		tb.Fatalf("%s is not installed; .ci/deps installs it", what)
	default:
		tb.Skipf("%s is not installed; .ci/deps installs it", what)
	}
}

// found says whether a program is on PATH.
func found(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// eventually waits until ok, which may tell why it is not through its text.
func eventually(tb testing.TB, what string, limit time.Duration, ok func() (done bool, state string)) {
	tb.Helper()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		done, state := ok()
		if done {
			return
		}
		select {
		case <-poll.C:
		case <-deadline.C:
			tb.Fatalf("%s: not within %v; last: %s", what, limit, state)
		case <-tb.Context().Done():
			tb.Fatalf("%s: the test ended; last: %s", what, state)
		}
	}
}
