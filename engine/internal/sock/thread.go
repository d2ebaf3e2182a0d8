package sock

import "runtime"

// onThread runs f on an operating system thread that is locked for as long, carries the
// name, is pinned to core (-1: not) and stands in ctr, which may be nil. The thread is
// given back as it was; if that fails it stays locked, and so ends with its goroutine.
func onThread(name string, core int, ctr *Counter, f func() error) error {
	runtime.LockOSThread()
	if onMainThread() {
		// Its name is the process's: ps and killall would see "lr-tx-1". While this
		// goroutine holds it, another one gets another thread.
		defer runtime.UnlockOSThread()
		result := make(chan error)
		go func() { result <- onThread(name, core, ctr, f) }()
		return <-result
	}
	restore, err := dress(name, core)
	defer func() {
		if restore() == nil {
			runtime.UnlockOSThread()
		}
	}()
	if err != nil {
		return err
	}
	if ctr != nil {
		ctr.tid.Store(int32(threadID()))
		defer ctr.tid.Store(0) // the number is soon another thread's
	}
	return f()
}
