package session

import (
	"errors"
	"testing"

	"github.com/pointsman/pointsman/gateway/route"
	configv1 "github.com/pointsman/pointsman/proto/pointsman/config/v1"
)

// Without decisions, --decision-fallback=error refuses what would start something new, and nothing else.
func TestFallbackError(t *testing.T) {
	w, r := startFake(t, "writer"), startFake(t, "reader")
	g := startGateway(t, gatewayOptions{
		servers: []*configv1.Server{server(writer, w.addr), server(reader, r.addr)}, fallback: route.FallbackError,
	})
	for _, user := range []string{"app", "loose"} {
		c := g.connect(t, user)
		c.expect(t, "SELECT 1", "reader")
		c.exec(t, "BEGIN")
	}
	c, loose := g.connect(t, "app"), g.connect(t, "loose")
	c.exec(t, "BEGIN")
	loose.exec(t, "BEGIN")
	g.decider.fail(errors.New("away"))
	c.expect(t, "SELECT 2", "writer") // in the transaction
	c.exec(t, "COMMIT")               // was never decided
	loose.exec(t, "COMMIT")
	for _, one := range []*client{c, loose} {
		one.expectError(t, "SELECT 2", codeUnreachable, "No decision in 30s")
		one.expectError(t, "INSERT INTO t VALUES (1)", codeUnreachable, "--decision-fallback=error")
		one.expect(t, "SELECT 1", "reader") // the cached answer counts
	}
	if _, err := c.PrepareContext(t.Context(), "SELECT 3"); err == nil {
		t.Error("prepared without a decision")
	}
	g.decider.fail(nil)
	eventually(t, "the service counts as up", g.Router.Up)
	c.expect(t, "SELECT 2", "reader")
}
