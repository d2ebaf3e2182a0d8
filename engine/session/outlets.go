package session

import (
	"context"
	"slices"

	"linerate/engine/diagnose"
	"linerate/probes"
)

// mostOutlets are examined at once: as many as a document of evidence holds.
const mostOutlets = 64

// onWire are kinds of interface that are hardware.
var onWire = []string{"physical", "wifi"}

// choose decides which interfaces to look at: the one of the route to the host, or that of
// the default route and every piece of hardware that is up and not below it. Where there is
// neither (a container without a default route), all that is up.
func (x *examiner) choose(ctx context.Context) {
	if x.dest.IsValid() {
		x.take(ctx, x.route.Value.NIC)
		return
	}
	first := x.Host.Route(ctx, elsewhere4)
	if !first.Known() {
		first = x.Host.Route(ctx, elsewhere6)
	}
	if first.Known() && first.Value.NIC.Value.Kind.Value != "loopback" {
		x.take(ctx, first.Value.NIC)
	}
	why := "no interface but loopback is up"
	if x.Interfaces != nil {
		list := x.Interfaces.Interfaces(ctx)
		if !list.Known() {
			why = list.Why()
		}
		x.takeAll(ctx, list.Value, func(n probes.NIC) bool { return slices.Contains(onWire, n.Kind.Value) })
		if len(x.outlets) == 0 {
			x.takeAll(ctx, list.Value, func(probes.NIC) bool { return true })
		}
	}
	if len(x.outlets) == 0 {
		x.outlets = []outlet{{nic: probes.Unknown[probes.NIC](probes.Absent, why)}}
	}
}

// takeAll adds those that are up, that match, and that are not there already, as themselves
// or below another one.
func (x *examiner) takeAll(ctx context.Context, list []probes.NIC, match func(probes.NIC) bool) {
	for _, n := range list {
		if n.Up.Value && match(n) && !x.has(n.Name) && len(x.outlets) < mostOutlets {
			x.take(ctx, probes.Got(n))
		}
	}
}

func (x *examiner) has(name string) bool {
	return slices.ContainsFunc(x.outlets, func(o outlet) bool {
		below := func(l probes.Layer) bool { return l.Name == name }
		return o.name() == name || slices.ContainsFunc(o.adapter.Chain, below)
	})
}

func (x *examiner) take(ctx context.Context, nic probes.Reading[probes.NIC]) {
	o := outlet{nic: nic}
	if n, ok := nic.Get(); ok {
		if a := x.Evidence.Adapter(ctx, n.Name); a.Known() {
			o.adapter = a.Value
		} else {
			o.adapter = diagnose.UnknownAdapter(a.Why())
		}
	}
	x.outlets = append(x.outlets, o)
}
