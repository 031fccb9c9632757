// Package mysqltest starts real MariaDB servers for tests: each with its own data directory and loopback port, untouched
// by the machine's configuration, and gone when the test ends. Tests are skipped where mariadbd is not installed. It also
// makes the certificates of tests with TLS.
//
// The package must be imported by tests only.
package mysqltest
