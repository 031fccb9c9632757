package e2e

import (
	"io/fs"
	"path/filepath"
	"sync"
	"testing"
)

// The programs are built by the tests, so the go command does not know that a test depends on their code: it would give the
// result of an earlier run, "(cached)", after any change of them. It takes note of folders that a test reads, so this reads
// those of the programs. To import the packages would not do: the linker leaves out what tests don't call.
var readSources = sync.OnceValue(func() error {
	for _, folder := range []string{"clients", "decision", "gateway", "proto", "server", "store"} {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(_ string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() && entry.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
})

// dependOnSources makes a test's kept result void when a program's code changes.
func dependOnSources(tb testing.TB) {
	tb.Helper()
	if err := readSources(); err != nil {
		tb.Fatalf("read the programs' folders: %v", err)
	}
}
