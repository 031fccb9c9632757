// Package server is the decision server: the commands `pointsman serve` and `pointsman store`.
//
// It only puts parts together: settings from flags and the environment, listeners, the feed from the store, the gRPC
// services, the admin pages, and an orderly end. What a decision is belongs to package decision, what a handler does to
// server/api, how generations are kept to package store.
//
// Where to go next: command.go for the commands, serve.go for what runs and in which order it ends.
package server
