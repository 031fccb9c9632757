// Package facts reads what people write of sessions and gateways for routing guidelines: NAME=VALUE, with the names of the
// language's variables.
//
// It must not evaluate anything; decision/guideline does. Start with [Parse].
package facts
