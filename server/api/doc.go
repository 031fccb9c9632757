// Package api answers the DecisionService and the ConfigService.
//
// A handler translates, calls, and translates back: decisions come from the generation in force (one pointer load), and
// configurations go to the store. It must not decide anything itself, and a decision never touches the store, a lock or
// a logger.
//
// Where to go next: route.go and stream.go for decisions, large.go and slow.go for statements that may take long,
// publish.go for configurations, gateway.go for what gateways are told, errors.go for how errors look to callers.
package api
