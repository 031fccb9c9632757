// Package translate turns API messages into the decision core's values and back.
//
// It is made of pure functions: no server, no store, no clock. The command-line tool uses it offline, so that a
// file and a server give the same answers. It must not decide anything: what a configuration or a statement means is
// the business of package decision.
//
// Where to go next: question.go and answer.go for a decision, config.go for a configuration, stored.go for the form
// in which a configuration is kept.
package translate
