package sock

import "fmt"

// RecvConfig says how Recv moves bytes.
type RecvConfig struct {
	Block   int     // bytes, size of one read; at least 1
	Batch   bool    // many blocks may be read by one call
	Discard bool    // --skip-rx-copy: the kernel drops the payload (MSG_TRUNC); Linux, elsewhere it is read
	Budget  *Budget // shared goal; nil: none
	Core    int     // the thread is pinned to it; -1: not
	Name    string  // of the thread while it receives, at most 15 bytes: "lr-rx-1"
}

// Recv takes payload in until ctr.Stop, the end of the stream or the end of the budget
// (all nil), or until the connection breaks. What is said of Send's thread holds here.
func (c *Conn) Recv(cfg RecvConfig, ctr *Counter) error {
	if cfg.Block < 1 {
		return fmt.Errorf("receiving blocks of %d bytes: need at least 1", cfg.Block)
	}
	return onThread(cfg.Name, cfg.Core, ctr, func() error {
		blocks := newBatch(cfg.Batch, mostBlocks)
		p := pump{
			move: c.receiver(cfg, blocks.most), ready: c.readable(), block: cfg.Block, batch: blocks,
			budget: cfg.Budget, doing: "receiving", nap: nap,
		}
		return p.run(ctr)
	})
}
