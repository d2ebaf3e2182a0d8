//go:build linux

package lab

import (
	"fmt"
	"io"
	"net"
	"testing"
	"time"
)

// A connection over the relay takes its round trip, carries bytes whole and at its rate.
func TestNetnsRelay(t *testing.T) {
	Need(t)
	a, b := NewHost(t, "a"), NewHost(t, "b")
	way := Way{Delay: 20 * time.Millisecond, Rate: 20e6, Queue: 2 << 20}
	NewRelay(t, a, b, 1500, way, way)
	a.Shape(t, RelayDev, 20e6, 1<<20)

	ln := listen(t, b)
	began := time.Now()
	c := dial(t, a, ln)
	if rtt := time.Since(began); rtt < 40*time.Millisecond {
		t.Errorf("connected in %v, want at least the 40 ms of the path", rtt)
	}
	const size = 500_000
	began = time.Now()
	if err := send(ln, c, size, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	if took, least := time.Since(began), time.Duration(size*8/20e6*float64(time.Second))*9/10; took < least {
		t.Errorf("%d bytes took %v, a link of 20 Mbit/s needs %v", size, took, least)
	}
}

// A relay lets packets be overtaken without losing one.
func TestNetnsRelayOvertakes(t *testing.T) {
	Need(t)
	a, b := NewHost(t, "a"), NewHost(t, "b")
	r := NewRelay(t, a, b, 1500, Way{Delay: time.Millisecond, Late: .2, LateBy: 3 * time.Millisecond}, Way{})
	const n = 500
	order := datagrams(t, a, b, n)
	overtaken := 0
	for i := 1; i < len(order); i++ {
		if order[i] < order[i-1] {
			overtaken++
		}
	}
	if len(order) != n || r.Dropped[0].Load() != 0 {
		t.Errorf("%d of %d datagrams arrived, the relay dropped %d", len(order), n, r.Dropped[0].Load())
	}
	if overtaken < n/20 {
		t.Errorf("%d of %d datagrams were overtaken, want about a fifth", overtaken, n)
	}
}

// A rule of nft loses its share.
func TestNetnsFilter(t *testing.T) {
	Need(t, "nft")
	a, b := NewHost(t, "a"), NewHost(t, "b")
	Join(t, a, b, Cable{})
	b.Filter(t, "input", RandomDrop("udp", 500))
	const n = 400
	if got := len(datagrams(t, a, b, n)); got < n*3/10 || got > n*7/10 {
		t.Errorf("%d of %d datagrams arrived, want half", got, n)
	}
}

// Through a host whose cable has a smaller MTU everything passes, since it tells; when it
// is kept from telling, only small packets do. Plain cables carry no packet above the MTU.
func TestNetnsThrough(t *testing.T) {
	Need(t, "nft")
	for _, quiet := range []bool{false, true} {
		t.Run(fmt.Sprintf("quiet=%v", quiet), func(t *testing.T) {
			a, m, b := NewHost(t, "a"), NewHost(t, "m"), NewHost(t, "b")
			Through(t, a, m, b, Cable{MTU: 9000, Plain: true}, Cable{MTU: 4074, Plain: true})
			// The far end has to offer large segments for any to be sent.
			b.SetMTU(t, "eth0", 9000)
			if quiet {
				m.Filter(t, "output", "meta l4proto icmp drop")
			}
			ln := listen(t, b)
			small, large := dial(t, a, ln), dial(t, a, ln)
			if err := send(ln, small, 2000, 5*time.Second); err != nil {
				t.Errorf("2000 bytes: %v", err)
			}
			err := send(ln, large, 200_000, 2*time.Second)
			if quiet && err == nil {
				t.Error("200 000 bytes arrived in packets that are too large")
			}
			if !quiet && err != nil {
				t.Errorf("200 000 bytes: %v", err)
			}
		})
	}
}

func listen(t *testing.T, h *Host) net.Listener {
	t.Helper()
	var ln net.Listener
	if err := h.Do(func() (err error) {
		ln, err = net.Listen("tcp4", net.JoinHostPort(h.Addr.String(), "0"))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln
}

func dial(t *testing.T, h *Host, ln net.Listener) net.Conn {
	t.Helper()
	var c net.Conn
	if err := h.Do(func() (err error) {
		c, err = net.DialTimeout("tcp4", ln.Addr().String(), 5*time.Second)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return c
}

// send writes size bytes to c, whose connection is the next that ln accepts, closes it,
// and checks that they arrive in time.
func send(ln net.Listener, c net.Conn, size int, within time.Duration) error {
	s, err := ln.Accept()
	if err != nil {
		return err
	}
	defer s.Close()
	go func() {
		defer c.Close()
		_ = c.SetWriteDeadline(time.Now().Add(within))
		_, _ = c.Write(make([]byte, size))
	}()
	if err := s.SetReadDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	n, err := io.Copy(io.Discard, s)
	if err != nil || int(n) != size {
		return fmt.Errorf("%d of %d bytes arrived: %w", n, size, err)
	}
	return nil
}

// datagrams sends n numbered ones from a to b, half a millisecond apart, and gives the
// numbers of those that arrived.
func datagrams(t *testing.T, a, b *Host, n int) (order []int) {
	t.Helper()
	var to net.PacketConn
	if err := b.Do(func() (err error) {
		to, err = net.ListenPacket("udp4", net.JoinHostPort(b.Addr.String(), "0"))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	var from net.Conn
	if err := a.Do(func() (err error) {
		from, err = net.Dial("udp4", to.LocalAddr().String())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer from.Close()
		for i := range n {
			_, _ = from.Write([]byte{byte(i >> 8), byte(i)})
			time.Sleep(500 * time.Microsecond)
		}
	}()
	buf := make([]byte, 2)
	for {
		_ = to.SetReadDeadline(time.Now().Add(time.Second))
		if _, _, err := to.ReadFrom(buf); err != nil {
			return order
		}
		order = append(order, int(buf[0])<<8|int(buf[1]))
	}
}
