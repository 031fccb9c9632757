// Package demo stands in for two MySQL servers where no real ones are installed: a primary and a read-only replica on
// one database in memory, which is gone when the process ends. It is for trying Pointsman out: it has no more of MySQL
// than github.com/dolthub/go-mysql-server has. It must not be used by anything but the quick start, and is a module of
// its own so that its dependencies stay out of Pointsman's.
//
// The program is cmd/pointsman-demo; deploy/quickstart/run.sh starts it.
package demo
