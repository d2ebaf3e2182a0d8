package sock

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// spareThreads is what GOMAXPROCS leaves besides the data threads: for the screen, the
// TCP_INFO watcher and the collector.
const spareThreads = 3

var (
	// roomy says that every reserved data thread has a place of its own among
	// GOMAXPROCS with spareThreads besides, so that calls may keep it while they block.
	roomy atomic.Bool

	reserved struct {
		mu      sync.Mutex
		threads int
		before  int // GOMAXPROCS when nothing was reserved
	}
)

// Reserve accounts for so many data threads, of Send and Recv, in this process and sets
// GOMAXPROCS to min(threads + 3, 4 × CPUs + 8) for all of them together: beyond that the
// collector and the scheduler cost more than they give (an idle GC cycle took 10 ms at
// 259 against 1.5 ms at 2). release, which may be called more than once, gives them
// back; with the last one GOMAXPROCS is what it was.
func Reserve(threads int) (release func()) {
	account(threads)
	return sync.OnceFunc(func() { account(-threads) })
}

func account(threads int) {
	r := &reserved
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.threads == 0 && threads > 0 {
		r.before = runtime.GOMAXPROCS(0)
	}
	r.threads += threads
	want := r.threads + spareThreads
	procs := min(want, 4*runtime.NumCPU()+8)
	room := procs == want && r.threads > 0
	if r.threads == 0 {
		procs = r.before
	}
	if !room {
		roomy.Store(false) // before there are fewer places
	}
	runtime.GOMAXPROCS(procs)
	roomy.Store(room)
}
