package bench

import (
	"fmt"
	"runtime"
	"syscall"
	"time"
)

// CPUTime is what the process has used so far on all cores, in user and system mode.
func CPUTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(fmt.Sprintf("getrusage: %v", err)) // it fails for wrong arguments only
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// CPU gives the CPU time of the whole process while f runs.
func CPU(f func()) time.Duration {
	start := CPUTime()
	f()
	return CPUTime() - start
}

// Allocations gives how many objects the process allocates while f runs.
func Allocations(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}

// Heap gives the bytes of live heap that what build returns holds on to.
func Heap[T any](build func() T) (T, uint64) {
	before := liveHeap()
	made := build()
	after := liveHeap()
	runtime.KeepAlive(build) // with what it works on
	runtime.KeepAlive(made)
	return made, max(after, before) - before
}

func liveHeap() uint64 {
	runtime.GC()
	runtime.GC() // the second one empties what the first has put aside: sync.Pool
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
