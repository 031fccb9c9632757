package store

import "fmt"

// DefaultPrefix is where a store lives in etcd unless told otherwise.
const DefaultPrefix = "/pointsman/v1"

// layoutVersion names the key layout and the chunk size together. A release that changes either must raise it.
const layoutVersion = 1

// layout builds keys. Numbers are zero-padded so that ranges sort.
type layout struct{ prefix string }

func (l layout) cluster() string     { return l.prefix + "/cluster" }
func (l layout) head() string        { return l.prefix + "/head" }
func (l layout) rejection() string   { return l.prefix + "/rejection" }
func (l layout) generations() string { return l.prefix + "/gen/" }
func (l layout) blobs() string       { return l.prefix + "/blob/" }

func (l layout) generation(n uint64) string { return fmt.Sprintf("%s%020d", l.generations(), n) }
func (l layout) blob(hash string) string    { return l.blobs() + hash + "/" }

func (l layout) chunk(hash string, i int) string { return fmt.Sprintf("%s%04d", l.blob(hash), i) }
