package embedded_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pointsman/pointsman/store/embedded"
)

// This binary is also the store that tests supervise, and a supervisor for tests to kill.
const (
	roleStore      = "role:store"
	roleSupervisor = "role:supervisor"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 4 {
		switch role, dir := os.Args[1], os.Args[2]; role {
		case roleStore:
			os.Exit(beStore(dir, os.Args[3]))
		case roleSupervisor:
			os.Exit(beSupervisor(dir, os.Args[3]))
		}
	}
	goleak.VerifyTestMain(m)
}

func beStore(dir, lockWait string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	wait, err := time.ParseDuration(lockWait)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	config := embedded.Config{DataDir: dir, LockWait: wait, Logger: log}
	if os.Getenv(embedded.SupervisedEnv) != "" {
		config.Parent = os.Stdin
	}
	err = embedded.Serve(ctx, config)
	if err != nil {
		log.Error("store", "error", err)
	}
	return embedded.ExitCode(err)
}

func beSupervisor(dir, lockWait string) int {
	err := embedded.Supervise(context.Background(), supervisor(dir, lockWait))
	return embedded.ExitCode(err)
}

func supervisor(dir, lockWait string) embedded.Supervisor {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return embedded.Supervisor{Exe: exe, Args: []string{roleStore, dir, lockWait}, DataDir: dir}
}
