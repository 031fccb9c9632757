package e2e

import "testing"

// TestDatabases holds the tests that need MariaDB servers, which take long to start.
func TestDatabases(t *testing.T) {
	d := startDatabases(t)
	for _, tt := range []struct {
		name string
		run  func(*testing.T, *databases)
	}{
		{"Split", testSplit},
		{"Follow", testFollow},
		{"Clients", testClients},
		{"ServerKilled", testServerKilled},
		{"StoreKilled", testStoreKilled},
		{"GatewayAlone", testGatewayAlone},
		{"Stop", testStop},
	} {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, d) })
	}
}
