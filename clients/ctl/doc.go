// Package ctl is the command line of pointsmanctl: verbs that publish and read configurations through a
// decision server, and verbs that validate, lint, route, explain, test, select and digest offline with the very same core.
//
// It must not decide or validate anything itself: decision.Compile and Generation.Route do, reached through
// server/translate; clients/casefile reads and runs the files of test. The reference for users is docs/pointsmanctl.md.
package ctl
