//go:build linux || darwin || freebsd

package sock

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"linerate/engine"
)

func TestWatcher(t *testing.T) {
	s := &stream{pair: newPair(t, Options{})}
	w := NewWatcher([]*Conn{s.tx, s.rx}, 5*time.Millisecond)
	if _, _, err := w.Read(0); !errors.Is(err, errNotYet) {
		t.Errorf("before Run: %v, want %v", err, errNotYet)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })

	startRecv(s, recvConfig())
	startSend(s, sendConfig())
	began := time.Now()
	waitFor(t, "a reading of the running stream", func() bool {
		info, at, err := w.Read(0)
		if err != nil {
			return false
		}
		if info.SndMSS == 0 || info.RTT == 0 || !info.Has(engine.InfoBase) {
			t.Fatalf("implausible reading: %+v", info)
		}
		return at.After(began) && (info.BytesAcked > 1<<20 || !info.Has(engine.InfoBytesAcked))
	})
	waitFor(t, "a reading of the receiver", func() bool {
		_, at, err := w.Read(1)
		return err == nil && at.After(began)
	})
	s.drain(t)
	if err := s.tx.Close(); err != nil {
		t.Error(err)
	}
	last, _, _ := w.Read(0)
	time.Sleep(20 * time.Millisecond)
	cancel()
	running.Wait()
	info, at, err := w.Read(0)
	if err != nil || at.IsZero() || info.SndMSS != last.SndMSS {
		t.Errorf("after Close: %+v at %v, %v; want the last reading", info, at, err)
	}
}

func TestWatcherClosed(t *testing.T) {
	p := newPair(t, Options{})
	p.tx.Close()
	w := NewWatcher([]*Conn{p.tx}, time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.Run(ctx)
	if _, _, err := w.Read(0); !errors.Is(err, net.ErrClosed) {
		t.Errorf("never read, closed: %v, want %v", err, net.ErrClosed)
	}
}
