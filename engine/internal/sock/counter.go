package sock

import "sync/atomic"

// cacheLine keeps neighbours apart: 64 bytes is the line of most processors, but pairs
// are fetched together on x86, and Apple's lines have 128.
const cacheLine = 128

// Counter is what one stream's loop shares with the rest of the process: how far it
// has come, where it runs, and whether it is to stop. The zero value is ready; it must
// not be copied. All methods may be called from any goroutine.
type Counter struct {
	_     [cacheLine]byte
	bytes atomic.Uint64
	tid   atomic.Int32
	stop  atomic.Bool
	_     [cacheLine]byte
}

// Bytes is the payload accepted by the kernel (Send) or read (Recv) so far. It is never
// more than 20 ms behind.
func (c *Counter) Bytes() uint64 { return c.bytes.Load() }

// TID is the kernel's number of the thread that runs the loop, for /proc/self/task; 0
// when no loop runs or the system does not tell.
func (c *Counter) TID() int { return int(c.tid.Load()) }

// Stop asks the loop to return; it does within 20 ms, longer only when the kernel holds
// the thread in one long copy. Further calls change nothing.
func (c *Counter) Stop() { c.stop.Store(true) }

func (c *Counter) stopped() bool { return c.stop.Load() }

func (c *Counter) add(n int) { c.bytes.Add(uint64(n)) }
