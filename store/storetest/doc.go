// Package storetest is the contract that every etcd must fulfil for package store, as tests: Run them against an
// embedded etcd and against a real one. Proxy, between a store and its etcd, loses and delays what a network may lose
// and delay. It is imported by tests only.
package storetest
