//go:build linux

package sock

import (
	"testing"
)

// What the peer does not read fills its receive buffer and then ours.
func TestMem(t *testing.T) {
	defer Reserve(1)()
	s := &stream{pair: newPair(t, Options{})}
	idle, err := s.rx.Mem()
	if err != nil {
		t.Fatal(err)
	}
	if idle.RmemAlloc != 0 || idle.RcvBuf == 0 || idle.SndBuf == 0 {
		t.Errorf("an idle socket has %+v, want empty buffers of some size", idle)
	}
	startSend(s, sendConfig())
	waitFor(t, "the receive buffer fills", func() bool {
		m, err := s.rx.Mem()
		return err == nil && m.RmemAlloc > m.RcvBuf/2
	})
	waitFor(t, "the send buffer fills", func() bool {
		m, err := s.tx.Mem()
		return err == nil && m.Queued > m.SndBuf/2
	})
	s.sent.Stop()
	s.sending.Wait()
}
