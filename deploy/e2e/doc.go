// Package e2e tests the built programs together, as a user runs them: pointsman with its store, pointsman-gateway and
// pointsmanctl as processes, real MariaDB servers behind, and real MySQL clients in front.
//
// It holds tests only, and starts whatever it needs on free loopback ports. Where MariaDB or a client is not installed,
// its tests are skipped, or fail when CI=true. What the programs log is printed when a test fails. Parts are tested
// beside their code; here belongs what only shows when they run together. The scripts of the clients and the
// configurations are in testdata.
package e2e
