package sock

import (
	"crypto/rand"
	"fmt"
	"sync"
)

// SendConfig says how Send moves bytes.
type SendConfig struct {
	Block     int     // bytes, size of one write; at least 1
	Batch     bool    // many blocks may go into one call: the user gave no size, -N, -k or -Z
	Rate      float64 // bits per second; 0: unlimited
	Burst     int     // blocks that go out back to back under Rate; 0: no bursts
	ZeroCopy  bool    // -Z: sendfile from a file of one block
	Repeating bool    // payload 0123456789… instead of random bytes
	Budget    *Budget // shared goal; nil: none
	Core      int     // the thread is pinned to it; -1: not
	Name      string  // of the thread while it sends, at most 15 bytes: "lr-tx-1"
}

// Send moves payload until ctr.Stop (nil), until the budget is used up (nil) or until
// the connection breaks. It blocks, and needs a goroutine of its own: it keeps its
// operating system thread for itself, with the name and the core of cfg, and gives it
// back as it was. Call it under a [Reserve]. One Send or Recv may run on a Conn.
func (c *Conn) Send(cfg SendConfig, ctr *Counter) error {
	if cfg.Block < 1 {
		return fmt.Errorf("sending blocks of %d bytes: need at least 1", cfg.Block)
	}
	return onThread(cfg.Name, cfg.Core, ctr, func() error {
		blocks := newBatch(cfg.Batch && !cfg.ZeroCopy, mostBlocks)
		move, release, err := c.sender(cfg, blocks.most)
		if err != nil {
			return err
		}
		defer release()
		p := pump{
			move: move, ready: c.writable(), block: cfg.Block, batch: blocks,
			budget: cfg.Budget, doing: "sending", nap: nap,
		}
		if cfg.Rate > 0 {
			p.pace = newPacer(cfg.Rate, cfg.Block, cfg.Burst, cfg.Batch)
		}
		return p.run(ctr)
	})
}

// sharedBlock is one block of random bytes for all streams that send blocks of up to
// this size: they only read it, and one block stays in a cache where 128 would not.
const sharedBlock = 128 << 10

var randomBlock = sync.OnceValue(func() []byte {
	b := make([]byte, sharedBlock)
	rand.Read(b)
	return b
})

// payload gives a block to send. It must not be written to.
func payload(size int, repeating bool) []byte {
	switch {
	case repeating:
		b := make([]byte, size)
		for i := range b {
			b[i] = '0' + byte(i%10)
		}
		return b
	case size <= sharedBlock:
		return randomBlock()[:size]
	default:
		b := make([]byte, size)
		rand.Read(b)
		return b
	}
}
