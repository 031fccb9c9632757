// Package store keeps generations in etcd: it publishes, fetches, lists, rolls back and follows them.
//
// It moves bytes and never looks inside them: whoever publishes has validated the content, and whoever fetches
// compiles it. It must not import the decision core, the server or the gateway.
//
// One key, head, says which generation is in force. Everything it leads to is immutable: a manifest per generation
// and content-addressed chunks. Publishing uploads the chunks and then moves head in one compare-and-swap
// transaction; a rollback is a new, higher generation with old content. Readers treat a watch event as a hint only
// and always read head again, linearizably.
//
// Where to go next: manifest.go for what is stored, publish.go for how head moves, follow.go for how readers keep
// up, store/embedded for the etcd that comes with the program, store/lastgood for the copy on disk.
package store
