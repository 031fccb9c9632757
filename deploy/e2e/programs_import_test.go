package e2e

// The programs are built by the tests, so the go command does not know that a test depends on their code: it would give the
// result of an earlier run, "(cached)", after any change of them. Importing them tells it.
import (
	_ "github.com/pointsman/pointsman/clients/ctl"
	_ "github.com/pointsman/pointsman/gateway"
	_ "github.com/pointsman/pointsman/server"
)
