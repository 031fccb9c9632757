package e2e

import "testing"

// TestDatabases holds the tests that need MariaDB servers, which take long to start.
func TestDatabases(t *testing.T) {
	d := startDatabases(t)
	for _, tt := range []struct {
		name  string
		run   func(*testing.T)
		alone bool // It looks at how soon something happens.
	}{
		{"Split", d.TestSplit, true},
		{"Follow", d.TestFollow, true},
		{"Clients", d.TestClients, false},
		{"ServerKilled", d.TestServerKilled, false},
		{"StoreKilled", d.TestStoreKilled, false},
		{"GatewayAlone", d.TestGatewayAlone, false},
		{"Stop", d.TestStop, false},
		{"Guidelines", d.TestGuidelines, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !tt.alone {
				t.Parallel()
			}
			tt.run(t)
		})
	}
}
