package nic

import (
	"context"
	"runtime"

	"linerate/probes"
	"linerate/probes/internal/rtnl"
)

// cards is the part of kernel that speaks of cards and of what is below a device.
type cards interface {
	Card(name string) rtnl.Card
	Fixed(name string) ([]string, error)
	Below(ctx context.Context, name string) (rtnl.Below, error)
	WiFi(ctx context.Context, name string) (probes.WiFi, error)
}

func (u unreadable) Card(string) rtnl.Card          { return rtnl.NoCard(u.err) }
func (u unreadable) Fixed(string) ([]string, error) { return nil, u.err }

func (u unreadable) Below(context.Context, string) (rtnl.Below, error) { return rtnl.Below{}, u.err }
func (u unreadable) WiFi(context.Context, string) (probes.WiFi, error) { return probes.WiFi{}, u.err }

// Adapter describes the hardware that packets sent through an interface end up in, and
// the devices they pass on the way. The only error is that the interface is not there, or
// that this is not Linux; what else cannot be read is unknown with its reason.
//
// It makes some thirty system calls and reads as many files of sysfs, 1 ms on a small
// machine. A driver that asks its card over a slow bus (EEE, optical modules) can take
// tens of milliseconds: read it at the start and every half minute.
func (r *Reader) Adapter(ctx context.Context, name string) (probes.Adapter, error) {
	if runtime.GOOS != "linux" {
		return probes.Adapter{}, probes.Missing{Status: probes.Unsupported, Reason: "cards are read on Linux only, this is " + runtime.GOOS}
	}
	top, err := r.ask().Link(ctx, name)
	if err != nil {
		return probes.Adapter{}, err
	}
	w := r.wayDown(ctx, top)
	bottom := w.links[len(w.links)-1]
	s := r.sysfs(bottom)
	card := r.ask().Card(bottom.Name)
	a := probes.Adapter{
		Device:     bottom.Name,
		Supported:  card.Supported,
		Offered:    card.Offered,
		Advertised: card.Advertised,
		Autoneg:    card.Autoneg,
		Rings:      card.Rings,
		Channels:   card.Channels,
		Pause:      card.Pause,
		EEE:        card.EEE,
		Optics:     card.Optics,
		RPS:        probes.Read(s.rps()),
		Chain:      w.layers,
		Members:    r.legs(ctx, w),
		WiFi:       r.radio(ctx, bottom, s),
	}
	a.Fixed, _ = r.ask().Fixed(top.Name) // a device that tells none has none that matter
	slot := r.slot(bottom, s)
	a.PCIe, a.USB, a.ASPM, a.NUMA, a.LocalCores = slot.pcie, slot.usb, slot.aspm, slot.node, slot.cores
	return a, nil
}

// legs counts the members of the bond on the way, if there is one.
func (r *Reader) legs(ctx context.Context, w way) probes.Reading[[]probes.Member] {
	for _, l := range w.links {
		if l.Kind == "bond" || l.Kind == "team" {
			return r.members(ctx, rtnl.Traffic{Kind: l.Kind, Index: l.Index})
		}
	}
	return probes.Unknown[[]probes.Member](probes.Absent, "no bond on the way to the wire")
}

func (r *Reader) radio(ctx context.Context, bottom rtnl.Link, s sysfs) probes.Reading[probes.WiFi] {
	if kind(bottom, s).Value != "wifi" {
		return probes.Unknown[probes.WiFi](probes.Absent, bottom.Name+" is not Wi-Fi")
	}
	return probes.Read(r.ask().WiFi(ctx, bottom.Name))
}
