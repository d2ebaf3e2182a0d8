package nic

import (
	"context"
	"fmt"
	"io/fs"
	"net/netip"
	"os"

	"linerate/probes"
	"linerate/probes/internal/rtnl"
)

// Reader reads the interfaces of one computer. It holds no state and is safe for
// concurrent use.
type Reader struct {
	root   fs.FS  // holds sys
	kernel kernel // nil: netlink.json below root
}

// kernel is what rtnl.Kernel asks the running system and rtnl.Saved a fixture.
type kernel interface {
	Link(ctx context.Context, name string) (rtnl.Link, error)
	Route(ctx context.Context, dest netip.Addr) (rtnl.Route, error)
	Driver(name string) (string, error)
	Offloads(name string) probes.Offloads
	Channels(name string) (rx, tx int, err error)
	traffic
	cards
}

// New reads this computer.
func New() *Reader { return &Reader{root: os.DirFS("/"), kernel: rtnl.Kernel{}} }

// NewAt reads the fixture tree at dir: sys for what sysfs has, and netlink.json, in
// the format of rtnl.Saved, for the rest. Without that file every answer is an error.
func NewAt(dir string) *Reader { return &Reader{root: os.DirFS(dir)} }

// ask gives whom to ask. A fixture's counters go on while a test runs, so its file is read
// for every question.
func (r *Reader) ask() kernel {
	if r.kernel != nil {
		return r.kernel
	}
	saved, err := rtnl.ReadSaved(r.root)
	if err != nil {
		return unreadable{err}
	}
	return saved
}

// Read describes one interface. What cannot be read is unknown with its reason; there
// is no other error.
func (r *Reader) Read(ctx context.Context, name string) probes.NIC {
	link, err := r.ask().Link(ctx, name)
	if err != nil {
		return nothing(name, err)
	}
	s := r.sysfs(link)
	n := r.face(ctx, link, s, maxDepth)
	n.Counters = link.Counters
	n.Offloads = r.ask().Offloads(link.Name)
	n.RxQueues, n.TxQueues = r.queues(link.Name, s)
	return n
}

// maxDepth is how far a stack of interfaces is followed down; VLAN on bridge on bond on
// port is 3, and the kernel allows no more than 8.
const maxDepth = 8

// face is an interface as far as those that stand on it want to know it: kind, state, MTU
// and speed. depth more may be below it.
func (r *Reader) face(ctx context.Context, link rtnl.Link, s sysfs, depth int) probes.NIC {
	n := probes.NIC{
		Name:   link.Name,
		Kind:   kind(link, s),
		Driver: r.driver(link, s),
		MTU:    probes.Got(link.MTU),
		Up:     probes.Got(link.Up),
	}
	n.SpeedBps, n.Duplex = lineSpeed(n, s, func(name string) probes.NIC { return r.below(ctx, name, depth-1) })
	return n
}

// below is the face of an interface that another one stands on.
func (r *Reader) below(ctx context.Context, name string, depth int) probes.NIC {
	if depth == 0 {
		return nothing(name, fmt.Errorf("interface %s: more than %d below one another", name, maxDepth))
	}
	link, err := r.ask().Link(ctx, name)
	if err != nil {
		return nothing(name, err)
	}
	return r.face(ctx, link, r.sysfs(link), depth)
}

// Route finds how packets reach dest, which may be loopback or an address of this
// computer, and describes the interface they leave by.
func (r *Reader) Route(ctx context.Context, dest netip.Addr) (probes.Route, error) {
	if !dest.IsValid() {
		return probes.Route{}, fmt.Errorf("route to nowhere: the address is not valid")
	}
	found, err := r.ask().Route(ctx, dest)
	if err != nil {
		return probes.Route{}, err
	}
	return probes.Route{
		Dest:    dest,
		Source:  found.Source,
		Gateway: found.Gateway,
		NIC:     probes.Got(r.Read(ctx, found.Link)),
	}, nil
}

func (r *Reader) driver(link rtnl.Link, s sysfs) probes.Reading[string] {
	if link.Loopback {
		return probes.Unknown[string](probes.Absent, "loopback has no driver")
	}
	name, err := r.ask().Driver(link.Name)
	if err != nil || name == "" {
		if own := s.driver(); own != "" {
			return probes.Got(own)
		}
	}
	return probes.Read(name, err)
}

func (r *Reader) queues(name string, s sysfs) (rx, tx probes.Reading[int]) {
	nRx, nTx, err := r.ask().Channels(name)
	if err == nil {
		return probes.Got(nRx), probes.Got(nTx)
	}
	nRx, nTx, inSysfs := s.queues()
	if inSysfs != nil {
		return probes.Unread[int](err), probes.Unread[int](err)
	}
	return probes.Got(nRx), probes.Got(nTx)
}

// nothing is an interface of which only the reason for the silence is known.
func nothing(name string, err error) probes.NIC {
	off := probes.Unread[bool](err)
	return probes.NIC{
		Name:     name,
		Kind:     probes.Unread[string](err),
		Driver:   probes.Unread[string](err),
		SpeedBps: probes.Unread[float64](err),
		Duplex:   probes.Unread[string](err),
		MTU:      probes.Unread[int](err),
		Up:       off,
		Offloads: probes.Offloads{TSO: off, GSO: off, GRO: off, LRO: off},
		RxQueues: probes.Unread[int](err),
		TxQueues: probes.Unread[int](err),
		Counters: probes.Unread[probes.NICCounters](err),
	}
}

// unreadable answers for a fixture tree whose netlink.json cannot be read.
type unreadable struct{ err error }

func (u unreadable) Link(context.Context, string) (rtnl.Link, error) { return rtnl.Link{}, u.err }

func (u unreadable) Route(context.Context, netip.Addr) (rtnl.Route, error) {
	return rtnl.Route{}, u.err
}

func (u unreadable) Traffic(context.Context, string) (rtnl.Traffic, error) {
	return rtnl.Traffic{}, u.err
}

func (u unreadable) All(context.Context) ([]rtnl.Link, error)   { return nil, u.err }
func (u unreadable) Statistics(string) (probes.Counters, error) { return nil, u.err }
func (u unreadable) Driver(string) (string, error)              { return "", u.err }
func (u unreadable) Channels(string) (int, int, error)          { return 0, 0, u.err }

func (u unreadable) Offloads(string) probes.Offloads { return nothing("", u.err).Offloads }
