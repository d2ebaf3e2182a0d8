package iperf

import (
	"errors"
	"fmt"
	"net/netip"

	"linerate/engine/internal/wire"
	"linerate/probes"
)

const (
	// leastPacket is the largest packet that every link must carry (RFC 791), mostPacket
	// more than IPv6 can make without jumbograms: the MTU of a loopback interface.
	leastPacket, mostPacket = 68, 1<<16 + 40
)

// pathOf reads what a server has found of the path to this end, and the address it probed.
func pathOf(s *wire.Sample) (mtu probes.PathMTU, probed netip.Addr, err error) {
	if err := fromJSON(s.Path, &mtu); err != nil {
		return mtu, probed, err
	}
	mtu = mtu.WithoutBack(probes.NotRead, "") // that direction is this end's to probe
	if err := plausible(&mtu); err != nil {
		return mtu, probed, err
	}
	if s.PathTo != "" {
		if probed, err = netip.ParseAddr(s.PathTo); err != nil {
			return mtu, probed, err
		}
	}
	return mtu, probed.Unmap().WithZone(""), nil
}

// plausible refuses sizes that no packet has and those that contradict each other.
func plausible(m *probes.PathMTU) error {
	for _, r := range []probes.Reading[int]{m.Out, m.TooBig, m.Reported, m.TCP} {
		if n, ok := r.Get(); ok && (n < leastPacket || n > mostPacket) {
			return fmt.Errorf("a packet of %d bytes", n)
		}
	}
	switch {
	case m.TooBig.Known() && (!m.Out.Known() || m.TooBig.Value <= m.Out.Value):
		return fmt.Errorf("%d bytes are too big where %d pass", m.TooBig.Value, m.Out.Value)
	case m.BlackHole && !m.TooBig.Known():
		return errors.New("packets of no size vanish")
	}
	return nil
}
