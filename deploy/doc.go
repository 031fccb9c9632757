// Package deploy has no code of its own: its tests try the quick start and check what lies in this folder (example
// configuration, container files, compose file, systemd units) as far as that is possible without Docker or systemd
// running. It must not be imported.
//
// Start with quickstart/run.sh, or docs/quickstart.md.
package deploy
