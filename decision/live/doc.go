// Package live holds the generation in force: readers load one pointer, a writer swaps it for a newer one.
//
// A [Holder] must not know what it holds, and the package has no clock, starts no goroutine and logs nothing: whoever
// waits brings a context. Who fetches and compiles generations is the service's business.
package live
