//go:build !race

package storetest

// largestChunks is how many chunks the largest content has: as many as fit.
const largestChunks = 125
