package lab

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Relay joins two hosts by a user program that carries each packet from one's TUN device
// to the other's: the delay and the queue that this kernel has no netem for.
type Relay struct {
	Dropped [2]atomic.Uint64 // packets lost in whatever way: first to second host, and back
}

// RelayDev is the name of the device a relay gives each host.
const RelayDev = "tun0"

// NewRelay joins a and b until the test ends. Each gets a TUN device called RelayDev of
// the given MTU. Which packets are lost is the same in every run only as far as their
// order is.
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
	lanes := [2]*lane{}
	for i, way := range []Way{ab, ba} {
		lanes[i] = &lane{Way: way, rng: rand.New(rand.NewPCG(uint64(i), 1)), dropped: &r.Dropped[i]}
	}
	var wg sync.WaitGroup
	for i, l := range lanes {
		l.other = lanes[1-i]
		r.carry(t, &wg, l, devs[i], devs[1-i])
	}
	t.Cleanup(func() {
		devs[0].Close()
		devs[1].Close()
		wg.Wait()
	})
	return r
}

// carry starts the goroutines of one direction. Packets that are late have a queue of
// their own, so that each queue is in the order of its times.
func (r *Relay) carry(t testing.TB, wg *sync.WaitGroup, l *lane, from, to *os.File) {
	queues := [2]chan packet{make(chan packet, 1<<16), make(chan packet, 1<<10)}
	wg.Go(func() {
		for _, q := range queues {
			defer close(q)
		}
		if err := l.read(from, queues); err != nil {
			t.Errorf("relay: %v", err)
		}
	})
	for _, q := range queues {
		wg.Go(func() {
			if err := write(to, q); err != nil {
				t.Errorf("relay: %v", err)
			}
		})
	}
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

// read takes packets off a device and decides over each.
func (l *lane) read(dev *os.File, queues [2]chan packet) error {
	buf := make([]byte, 1<<16)
	for {
		n, err := dev.Read(buf)
		if err != nil {
			if errors.Is(err, os.ErrClosed) {
				return nil
			}
			return err
		}
		due, late, ok := l.fate(n, time.Now())
		if !ok {
			l.dropped.Add(1)
			continue
		}
		q := queues[0]
		if late {
			q = queues[1]
		}
		select {
		case q <- packet{data: append([]byte(nil), buf[:n]...), due: due}:
		default:
			l.dropped.Add(1)
		}
	}
}

func write(dev *os.File, q <-chan packet) error {
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
