//go:build race

package storetest

// largestChunks is how many chunks the largest content has. With the race detector uploading as many as fit takes longer than
// a publication may, and many more chunks than a few find no other races.
const largestChunks = 20
