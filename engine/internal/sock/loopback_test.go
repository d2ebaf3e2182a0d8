//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package sock

import (
	"context"
	"fmt"
	"math"
	"net"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pair is one connection over loopback with both its ends taken.
type pair struct{ tx, rx *Conn }

// dialPair connects over loopback with opts on both ends.
func dialPair(t testing.TB, opts Options) (client, server *net.TCPConn) {
	t.Helper()
	listen := net.ListenConfig{}
	ln, err := listen.Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	d := net.Dialer{Control: opts.Control}
	a, err := d.DialContext(t.Context(), "tcp4", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := ln.Accept()
	if err != nil {
		a.Close()
		t.Fatal(err)
	}
	return a.(*net.TCPConn), b.(*net.TCPConn)
}

func newPair(t testing.TB, opts Options) pair {
	t.Helper()
	a, b := dialPair(t, opts)
	if _, err := opts.Apply(a); err != nil {
		t.Fatal(err)
	}
	opts.Server = true
	if _, err := opts.Apply(b); err != nil {
		t.Fatal(err)
	}
	var p pair
	var err error
	if p.tx, err = Take(a); err != nil {
		b.Close()
		t.Fatal(err)
	}
	t.Cleanup(func() { p.tx.Close() })
	if p.rx, err = Take(b); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.rx.Close() })
	return p
}

// stream is a pair with its two loops.
type stream struct {
	pair
	sent, received Counter
	txErr, rxErr   error
	sending        sync.WaitGroup
	receiving      sync.WaitGroup
}

func startSend(s *stream, cfg SendConfig) {
	s.sending.Go(func() { s.txErr = s.tx.Send(cfg, &s.sent) })
}

func startRecv(s *stream, cfg RecvConfig) {
	s.receiving.Go(func() { s.rxErr = s.rx.Recv(cfg, &s.received) })
}

// drain ends a stream in order: the sender stops and says so, the receiver reads on to
// the end.
func (s *stream) drain(t testing.TB) {
	t.Helper()
	s.sent.Stop()
	s.sending.Wait()
	if err := s.tx.Shutdown(); err != nil {
		t.Error(err)
	}
	s.receiving.Wait()
	if s.txErr != nil || s.rxErr != nil {
		t.Errorf("loops ended with %v and %v, want nil", s.txErr, s.rxErr)
	}
}

func sendConfig() SendConfig {
	return SendConfig{Block: testBlock, Batch: true, Core: -1, Name: "lr-tx-test"}
}

func recvConfig() RecvConfig {
	return RecvConfig{Block: testBlock, Batch: true, Core: -1, Name: "lr-rx-test"}
}

// waitFor waits until ok, at most 10 s.
func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			t.Fatalf("gave up waiting: %s", what)
		case <-tick.C:
		}
	}
}

// Nothing is received that was not sent, and after the drain both counts agree, in
// every way of moving bytes.
func TestLoopback(t *testing.T) {
	type ends struct {
		tx SendConfig
		rx RecvConfig
	}
	for name, change := range map[string]func(*ends){
		"default":     func(*ends) {},
		"own block":   func(e *ends) { e.tx.Block, e.tx.Batch, e.rx.Block, e.rx.Batch = 1000, false, 777, false },
		"large block": func(e *ends) { e.tx.Block, e.rx.Block = 1<<20, 1<<20 },
		"zero copy":   func(e *ends) { e.tx.ZeroCopy = true },
		"discard":     func(e *ends) { e.rx.Discard = true },
		"repeating":   func(e *ends) { e.tx.Repeating = true },
		"paced":       func(e *ends) { e.tx.Rate = 1e9 },
		"paced zero":  func(e *ends) { e.tx.Rate, e.tx.ZeroCopy, e.tx.Batch = 1e9, true, false },
	} {
		for _, reserve := range []int{0, 2} { // without and with a place for each thread
			t.Run(fmt.Sprintf("%s/reserve=%d", name, reserve), func(t *testing.T) {
				defer Reserve(reserve)()
				e := ends{sendConfig(), recvConfig()}
				change(&e)
				s := &stream{pair: newPair(t, Options{})}
				startRecv(s, e.rx)
				startSend(s, e.tx)
				for range 50 {
					r := s.received.Bytes() // first, or the sender may have gone on
					if sent := s.sent.Bytes() + uint64(maxBlocks*e.tx.Block); r > sent {
						t.Fatalf("received %d bytes of at most %d", r, sent)
					}
					time.Sleep(2 * time.Millisecond)
				}
				s.drain(t)
				if s.received.Bytes() != s.sent.Bytes() || s.sent.Bytes() == 0 {
					t.Errorf("received %d of %d bytes", s.received.Bytes(), s.sent.Bytes())
				}
			})
		}
	}
}

// What arrives is the payload, block by block, whatever the batches.
func TestLoopbackPayload(t *testing.T) {
	s := &stream{pair: newPair(t, Options{})}
	cfg := sendConfig()
	cfg.Block, cfg.Repeating = 1000, true
	cfg.Budget = NewBudget(3_000_005)
	cfg.Budget.Start()
	startSend(s, cfg)
	var got []byte
	buf := make([]byte, 1<<16)
	for len(got) < 3_000_005 {
		n, err := unix.Read(s.rx.fd, buf)
		if err != nil && err != unix.EINTR && err != unix.EAGAIN {
			t.Fatal(err)
		}
		got = append(got, buf[:max(n, 0)]...)
	}
	s.sending.Wait()
	for i, c := range got {
		if want := '0' + byte(i%10); c != want {
			t.Fatalf("byte %d is %q, want %q", i, c, want)
		}
	}
}

// A peer that reads nothing for a second at full speed: not a byte is counted as moved
// while it stands, and the totals are exact afterwards.
func TestReaderPauses(t *testing.T) {
	defer Reserve(2)()
	s := &stream{pair: newPair(t, Options{})}
	startRecv(s, recvConfig())
	startSend(s, sendConfig())
	waitFor(t, "the stream runs at full speed", func() bool { return s.received.Bytes() > 50<<20 })

	s.received.Stop()
	s.receiving.Wait()
	stoodAt := s.received.Bytes()
	// What the kernel still takes in fills the buffers at once; then nothing moves.
	waitFor(t, "the sender stands", func() bool {
		before := s.sent.Bytes()
		time.Sleep(10 * callTimeout)
		return s.sent.Bytes() == before
	})
	sentAt := s.sent.Bytes()
	for range 10 {
		time.Sleep(100 * time.Millisecond)
		if got := s.received.Bytes() - stoodAt; got != 0 {
			t.Fatalf("%d new bytes while the reader stood", got)
		}
		// Zero window probes carry a segment now and then into what room is left.
		if got := s.sent.Bytes() - sentAt; got > 4<<20 {
			t.Fatalf("%d bytes accepted into full buffers", got)
		}
	}

	var again Counter
	s.receiving.Go(func() { s.rxErr = s.rx.Recv(recvConfig(), &again) })
	waitFor(t, "the stream goes on", func() bool { return again.Bytes() > 50<<20 })
	s.drain(t)
	if got := stoodAt + again.Bytes(); got != s.sent.Bytes() {
		t.Errorf("received %d of %d bytes", got, s.sent.Bytes())
	}
}

// The goal of -n is met to the byte by four streams together, at both ends, and all
// loops return by themselves.
func TestBudgetOverStreams(t *testing.T) {
	const goal = 200_000_003
	defer Reserve(8)()
	tx, rx := NewBudget(goal), NewBudget(goal)
	tx.Start()
	rx.Start()
	streams := make([]*stream, 4)
	for i := range streams {
		streams[i] = &stream{pair: newPair(t, Options{})}
		r, c := recvConfig(), sendConfig()
		r.Budget, c.Budget = rx, tx
		startRecv(streams[i], r)
		startSend(streams[i], c)
	}
	var sent, received uint64
	for _, s := range streams {
		s.sending.Wait()
		s.receiving.Wait()
		if s.txErr != nil || s.rxErr != nil {
			t.Errorf("loops ended with %v and %v, want nil", s.txErr, s.rxErr)
		}
		sent += s.sent.Bytes()
		received += s.received.Bytes()
	}
	if sent != goal || received != goal || !isDone(tx) || !isDone(rx) {
		t.Errorf("sent %d, received %d of %d", sent, received, goal)
	}
}

func TestPacing(t *testing.T) {
	const rate = 50e6
	for _, batched := range []bool{true, false} {
		t.Run(fmt.Sprintf("batched=%v", batched), func(t *testing.T) {
			s := &stream{pair: newPair(t, Options{})}
			startRecv(s, recvConfig())
			cfg := sendConfig()
			cfg.Rate, cfg.Batch = rate, batched
			if !batched {
				cfg.Block = 16 << 10
			}
			startSend(s, cfg)
			waitFor(t, "the first bytes", func() bool { return s.sent.Bytes() > 0 })
			// A busy machine may starve the thread for longer than the bucket is deep;
			// it must not keep doing so, and never may the stream be faster.
			got := 0.0
			for try := 0; try < 5 && math.Abs(got/rate-1) > 0.05; try++ {
				from, start := s.sent.Bytes(), time.Now()
				time.Sleep(time.Second)
				got = float64(s.sent.Bytes()-from) * 8 / time.Since(start).Seconds()
				if got > rate*(1.05+slowDepth.Seconds()) {
					break
				}
			}
			s.drain(t)
			if math.Abs(got/rate-1) > 0.05 {
				t.Errorf("paced to %.4g bit/s, want %.4g within 5 %%", got, rate)
			}
		})
	}
}

// With the socket's buffers full and nobody reading, a stop takes 20 ms without a
// Shutdown, and a Shutdown wakes both ends at once.
func TestStopWhileBlocked(t *testing.T) {
	for _, reserve := range []int{0, 2} {
		t.Run(fmt.Sprintf("reserve=%d", reserve), func(t *testing.T) {
			defer Reserve(reserve)()
			s := &stream{pair: newPair(t, Options{})}
			startSend(s, sendConfig())
			waitFor(t, "the buffers are full", func() bool {
				before := s.sent.Bytes()
				time.Sleep(2 * callTimeout)
				return before > 0 && s.sent.Bytes() == before
			})
			start := time.Now()
			s.sent.Stop()
			s.sending.Wait()
			if d := time.Since(start); d > 100*time.Millisecond {
				t.Errorf("Send returned %v after the stop, want within 100 ms", d)
			}
			if s.txErr != nil {
				t.Errorf("stopped sender: %v, want nil", s.txErr)
			}
		})
	}
}

func TestShutdownEndsLoops(t *testing.T) {
	s := &stream{pair: newPair(t, Options{})}
	startRecv(s, recvConfig())
	waitFor(t, "the receiver blocks", func() bool { return s.received.TID() != 0 || !threadsHaveNumbers })
	if err := s.rx.Shutdown(); err != nil {
		t.Error(err)
	}
	s.receiving.Wait()
	if s.rxErr != nil {
		t.Errorf("receiver shut down: %v, want nil (end of stream)", s.rxErr)
	}

	startSend(s, sendConfig()) // its peer takes nothing more and answers with a reset
	s.sending.Wait()
	if s.txErr == nil {
		t.Error("sending to a closed peer: got nil, want an error")
	}
	for _, c := range []*Conn{s.tx, s.rx} {
		for range 2 { // the second call changes nothing
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := c.Shutdown(); err != nil {
			t.Errorf("Shutdown after Close: %v, want nil", err)
		}
		if _, err := c.MSS(); err == nil {
			t.Error("MSS after Close: want an error")
		}
	}
}

// Discard resets: the peer gets an error in place of the queue.
func TestDiscard(t *testing.T) {
	s := &stream{pair: newPair(t, Options{})}
	startSend(s, sendConfig())
	waitFor(t, "something is queued", func() bool { return s.sent.Bytes() > 1<<20 })
	s.sent.Stop()
	s.sending.Wait()
	if err := s.tx.Discard(); err != nil {
		t.Fatal(err)
	}
	if err := s.tx.Close(); err != nil {
		t.Fatal(err)
	}
	startRecv(s, recvConfig())
	s.receiving.Wait()
	if s.rxErr == nil {
		t.Errorf("received %d of %d bytes and a regular end, want a reset", s.received.Bytes(), s.sent.Bytes())
	}
}

func TestBlockSizeChecked(t *testing.T) {
	p := newPair(t, Options{})
	var ctr Counter
	if err := p.tx.Send(SendConfig{Core: -1}, &ctr); err == nil {
		t.Error("Send with a block of 0 bytes: want an error")
	}
	if err := p.rx.Recv(RecvConfig{Core: -1}, &ctr); err == nil {
		t.Error("Recv with a block of 0 bytes: want an error")
	}
}
