package lab

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Way is one direction of a relayed link.
type Way struct {
	Delay time.Duration // added to every packet after it has left the queue
	Rate  float64       // bit/s at which the queue drains; 0: at once
	Queue int           // bytes that may wait; a packet that finds it full is dropped
}

// Relay joins two hosts by a user program that carries each packet from one's TUN device
// to the other's: the delay and the queue that this kernel has no netem for.
type Relay struct {
	Dropped [2]atomic.Uint64 // packets that found the queue full: first to second host, and back
}

// RelayDev is the name of the device a relay gives each host.
const RelayDev = "tun0"

// NewRelay joins a and b until the test ends. Each gets a TUN device called RelayDev of
// the given MTU.
func NewRelay(t testing.TB, a, b *Host, mtu int, ab, ba Way) *Relay {
	t.Helper()
	addrs := [2]netip.Addr{netip.MustParseAddr("10.77.0.1"), netip.MustParseAddr("10.77.0.2")}
	var devs [2]*os.File
	for i, h := range []*Host{a, b} {
		dev, err := openTun(h, mtu)
		if err == nil {
			err = h.join(RelayDev, addrs[i])
		}
		if err != nil {
			t.Fatal(err)
		}
		devs[i] = dev
	}
	r := &Relay{}
	var wg sync.WaitGroup
	for i, way := range []Way{ab, ba} {
		q := make(chan packet, 1<<16)
		wg.Go(func() {
			defer close(q)
			if err := way.read(devs[i], q, &r.Dropped[i]); err != nil {
				t.Errorf("relay: %v", err)
			}
		})
		wg.Go(func() {
			if err := way.write(devs[1-i], q); err != nil {
				t.Errorf("relay: %v", err)
			}
		})
	}
	t.Cleanup(func() {
		devs[0].Close()
		devs[1].Close()
		wg.Wait()
	})
	return r
}

func openTun(h *Host, mtu int) (*os.File, error) {
	var dev *os.File
	err := h.Do(func() error {
		fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("opening /dev/net/tun: %w", err)
		}
		req, err := unix.NewIfreq(RelayDev)
		if err == nil {
			req.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
			err = unix.IoctlIfreq(fd, unix.TUNSETIFF, req)
		}
		if err != nil {
			unix.Close(fd)
			return fmt.Errorf("making %s in %s: %w", RelayDev, h.Name, err)
		}
		dev = os.NewFile(uintptr(fd), RelayDev)
		return nil
	})
	if err != nil {
		return nil, err
	}
	link, err := h.nl.LinkByName(RelayDev)
	if err == nil {
		err = h.nl.LinkSetMTU(link, mtu)
	}
	if err == nil {
		// The device's own queue holds what the relay has not read yet; it must not be the
		// queue under test.
		err = h.nl.LinkSetTxQLen(link, 1000)
	}
	return dev, err
}

type packet struct {
	data []byte
	due  time.Time // when it arrives at the other host
}

// read takes packets off a device, gives each its times and drops what the queue has no
// room for.
func (w Way) read(dev *os.File, q chan<- packet, dropped *atomic.Uint64) error {
	buf := make([]byte, 1<<16)
	var free time.Time // when the queue will have drained
	for {
		n, err := dev.Read(buf)
		if err != nil {
			if errors.Is(err, os.ErrClosed) {
				return nil
			}
			return err
		}
		now := time.Now()
		if free.Before(now) {
			free = now
		}
		if w.Rate > 0 {
			waiting := free.Sub(now).Seconds() * w.Rate / 8
			if int(waiting)+n > w.Queue {
				dropped.Add(1)
				continue
			}
			free = free.Add(time.Duration(float64(n) * 8 / w.Rate * float64(time.Second)))
		}
		select {
		case q <- packet{data: append([]byte(nil), buf[:n]...), due: free.Add(w.Delay)}:
		default:
			dropped.Add(1)
		}
	}
}

func (w Way) write(dev *os.File, q <-chan packet) error {
	var failed error
	for p := range q {
		if failed != nil {
			continue // the reader must never block on a dead device
		}
		time.Sleep(time.Until(p.due))
		if _, err := dev.Write(p.data); err != nil && !errors.Is(err, os.ErrClosed) && !errors.Is(err, unix.EIO) {
			failed = err
		}
	}
	return failed
}
