//go:build linux

package lab

import (
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

	var ln net.Listener
	if err := b.Do(func() (err error) {
		ln, err = net.Listen("tcp4", net.JoinHostPort(b.Addr.String(), "0"))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	var c net.Conn
	began := time.Now()
	if err := a.Do(func() (err error) {
		c, err = net.DialTimeout("tcp4", ln.Addr().String(), 5*time.Second)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if rtt := time.Since(began); rtt < 40*time.Millisecond {
		t.Errorf("connected in %v, want at least the 40 ms of the path", rtt)
	}
	s, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()

	const size = 500_000
	began = time.Now()
	go func() {
		defer c.Close()
		_, _ = c.Write(make([]byte, size))
	}()
	s.SetReadDeadline(time.Now().Add(10 * time.Second))
	n, err := io.Copy(io.Discard, s)
	if err != nil || n != size {
		t.Fatalf("%d bytes arrived (%v), want %d", n, err, size)
	}
	if took, least := time.Since(began), time.Duration(size*8/20e6*float64(time.Second))*9/10; took < least {
		t.Errorf("%d bytes took %v, a link of 20 Mbit/s needs %v", size, took, least)
	}
}
