package nic

import (
	"context"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"

	"linerate/probes"
	"linerate/probes/internal/kfs"
	"linerate/probes/internal/rtnl"
)

// traffic is the part of kernel that changes while packets flow.
type traffic interface {
	Traffic(ctx context.Context, name string) (rtnl.Traffic, error)
	Statistics(name string) (probes.Counters, error)
	All(ctx context.Context) ([]rtnl.Link, error)
}

// Traffic is what passed through an interface and the devices below it.
type Traffic struct {
	Link    probes.Reading[probes.Counters] // by the names of struct rtnl_link_stats64
	Carrier probes.Reading[uint64]          // times the link came and went
	Qdiscs  probes.Reading[[]probes.Qdisc]  // of all the devices
	Members probes.Reading[[]probes.Member] // of a bond
}

// Way names the devices that packets pass from an interface down to the wire, itself
// first. Of a bond one member stands for all.
func (r *Reader) Way(ctx context.Context, name string) []string {
	top, err := r.ask().Link(ctx, name)
	if err != nil {
		return []string{name}
	}
	w := r.wayDown(ctx, top)
	names := make([]string, len(w.links))
	for i, l := range w.links {
		names[i] = l.Name
	}
	return names
}

// Traffic reads counters and queueing disciplines of the devices on a way (see Way): one
// netlink socket and two requests each, under 0.1 ms. Counters are those of the last
// device, or of a bond, which adds up its members.
func (r *Reader) Traffic(ctx context.Context, way []string) Traffic {
	var all Traffic
	var qdiscs []probes.Qdisc
	summed := false // Link is a bond's
	for i, name := range way {
		t, err := r.ask().Traffic(ctx, name)
		if err != nil {
			all = NoTraffic(err)
			break
		}
		if !summed {
			all.Link, all.Carrier = probes.Got(t.Counters), t.Carrier
		}
		if i == 0 || isBond(t) {
			all.Members = r.members(ctx, t)
		}
		summed = summed || isBond(t)
		if !t.Qdiscs.Known() {
			all.Qdiscs = t.Qdiscs
			continue
		}
		for _, q := range t.Qdiscs.Value {
			q.Device = name
			qdiscs = append(qdiscs, q)
		}
	}
	if all.Qdiscs.Status == probes.NotRead {
		all.Qdiscs = probes.Got(qdiscs)
	}
	return all
}

func isBond(t rtnl.Traffic) bool { return t.Kind == "bond" || t.Kind == "team" }

// NoTraffic is a Traffic of which only the reason for its absence is known.
func NoTraffic(err error) Traffic {
	return Traffic{
		Link:    probes.Unread[probes.Counters](err),
		Carrier: probes.Unread[uint64](err),
		Qdiscs:  probes.Unread[[]probes.Qdisc](err),
		Members: probes.Unread[[]probes.Member](err),
	}
}

// members counts the bytes of each leg of a bond.
func (r *Reader) members(ctx context.Context, bond rtnl.Traffic) probes.Reading[[]probes.Member] {
	if !isBond(bond) {
		return probes.Unknown[[]probes.Member](probes.Absent, "not a bond")
	}
	all, err := r.ask().All(ctx)
	if err != nil {
		return probes.Unread[[]probes.Member](err)
	}
	legs := []probes.Member{}
	for _, l := range all {
		if l.Master != bond.Index {
			continue
		}
		n, ok := l.Counters.Get()
		if !ok {
			return probes.Unknown[[]probes.Member](l.Counters.Status, l.Counters.Reason)
		}
		// Without a speed the leg is down, or does not tell.
		speed, _ := speedFile(r.sysfs(l))
		legs = append(legs, probes.Member{Name: l.Name, SpeedBps: speed, RxBytes: n.RxBytes, TxBytes: n.TxBytes})
	}
	return probes.Got(legs)
}

// Statistics reads the driver's own counters (ethtool -S). It may take a driver some
// milliseconds, during which nobody else can change the interface; many refresh them only
// every second or two.
func (r *Reader) Statistics(name string) probes.Reading[probes.Counters] {
	return probes.Read(r.ask().Statistics(name))
}

// Interrupts tells which lines of /proc/interrupts belong to an interface.
type Interrupts struct {
	IRQs []int // their numbers, ascending, where sysfs tells them
	// Names are what the lines of this interface have in their last column, as a word of its
	// own, where their numbers are not known.
	Names []string
}

// Interrupts finds the interrupts of an interface that is hardware: those of its PCI
// function, which for a USB adapter is the USB controller. Virtual interfaces have none.
func (r *Reader) Interrupts(ctx context.Context, name string) (Interrupts, error) {
	link, err := r.ask().Link(ctx, name)
	if err != nil {
		return Interrupts{}, err
	}
	if link.Loopback || link.Kind != "" {
		return Interrupts{}, probes.Missing{Status: probes.Absent, Reason: name + " is not hardware and has no interrupts"}
	}
	s := r.sysfs(link)
	if s.err != nil {
		// Hardware all the same, and drivers name their interrupts after the interface.
		return Interrupts{Names: []string{name}}, nil
	}
	if !s.exists("device") {
		return Interrupts{}, probes.Missing{Status: probes.Absent, Reason: name + " is not hardware and has no interrupts"}
	}
	device, err := s.device()
	if err != nil {
		return Interrupts{}, err
	}
	found := Interrupts{Names: []string{name, path.Base(device)}}
	if function, ok := pciFunction(device); ok {
		found.IRQs = functionIRQs(r.root, function)
	}
	return found, nil
}

// device is the path of the device that the interface is a part of. The links on the way
// are relative, the second to where the first leads.
func (s sysfs) device() (string, error) {
	folder, err := kfs.Resolve(s.root, s.folder)
	if err != nil {
		return "", err
	}
	return kfs.Resolve(s.root, path.Join(folder, "device"))
}

var pciAddress = regexp.MustCompile(`^[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)

// pciFunction finds the innermost PCI function that a device of sysfs is part of: itself,
// or what a virtio or USB device sits on.
func pciFunction(device string) (string, bool) {
	for p := device; p != "." && p != "/"; p = path.Dir(p) {
		if pciAddress.MatchString(path.Base(p)) {
			return p, true
		}
	}
	return "", false
}

// functionIRQs lists the message-signalled interrupts of a PCI function, or the one on its
// pin.
func functionIRQs(root fs.FS, function string) []int {
	var irqs []int
	entries, _ := fs.ReadDir(root, path.Join(function, "msi_irqs"))
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			irqs = append(irqs, n)
		}
	}
	if len(irqs) == 0 {
		if n, err := kfs.Int(root, path.Join(function, "irq")); err == nil && n > 0 {
			irqs = append(irqs, int(n))
		}
	}
	slices.Sort(irqs)
	return irqs
}
