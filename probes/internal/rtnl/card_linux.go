//go:build linux

package rtnl

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"linerate/probes"
)

const (
	ethSSFeatures = 4 // ETH_SS_FEATURES
	// maxFeatures bounds the buffers; Linux 6.18 has some 70 features.
	maxFeatures = 256
)

// Card asks ethtool for everything a card tells without being changed. Only the light of
// an optical module needs a privilege, CAP_NET_ADMIN.
func (Kernel) Card(name string) Card {
	c := NoCard(errUntold)
	if err := linkSettings(name, &c); err != nil {
		err = fmt.Errorf("link modes of %s: %w", name, err)
		list := probes.Unread[[]float64](err)
		c.Supported, c.Offered, c.Advertised, c.Autoneg = list, list, list, probes.Unread[bool](err)
	}
	c.Rings = told("rings", name, rings)
	c.Channels = told("channels", name, channels)
	c.Pause = told("pause frames", name, pause)
	c.EEE = told("EEE", name, eee)
	c.Optics = told("light in the module", name, module)
	return c
}

// told names what could not be read. Most devices lack something, and an errno of a
// driver that has no module or no copper says no more than that.
func told[T any](what, name string, read func(string) (T, error)) probes.Reading[T] {
	v, err := read(name)
	if err == nil {
		return probes.Got(v)
	}
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENODEV) || errors.Is(err, unix.ENXIO) {
		err = errUntold
	}
	return probes.Unread[T](fmt.Errorf("%s of %s: %w", what, name, err))
}

// linkSettings makes the two requests of ETHTOOL_GLINKSETTINGS: the first, with no words,
// is answered with minus the number of words a mask has.
func linkSettings(name string, c *Card) error {
	var answer struct {
		cmd   uint32
		bytes [linkSettingsHeader - 4 + 3*4*maxMaskWords]byte
	}
	whole := unsafe.Slice((*byte)(unsafe.Pointer(&answer)), unsafe.Sizeof(answer))
	answer.cmd = unix.ETHTOOL_GLINKSETTINGS
	if err := ethtool(name, unsafe.Pointer(&answer)); err != nil {
		return err
	}
	words := int8(whole[maskWordsAt])
	if words >= 0 {
		return errShort
	}
	clear(whole)
	answer.cmd = unix.ETHTOOL_GLINKSETTINGS
	whole[maskWordsAt] = byte(-words)
	if err := ethtool(name, unsafe.Pointer(&answer)); err != nil {
		return err
	}
	parseLinkSettings(whole, c)
	return nil
}

func rings(name string) (probes.Rings, error) {
	r := struct { // struct ethtool_ringparam
		cmd, rxMax, rxMiniMax, rxJumboMax, txMax uint32
		rx, rxMini, rxJumbo, tx                  uint32
	}{cmd: unix.ETHTOOL_GRINGPARAM}
	err := ethtool(name, unsafe.Pointer(&r))
	if err == nil && r.rxMax == 0 {
		err = errUntold
	}
	return probes.Rings{Rx: int(r.rx), RxMax: int(r.rxMax), Tx: int(r.tx), TxMax: int(r.txMax)}, err
}

func channels(name string) (probes.Channels, error) {
	c := struct { // struct ethtool_channels
		cmd, maxRx, maxTx, maxOther, maxCombined uint32
		rx, tx, other, combined                  uint32
	}{cmd: unix.ETHTOOL_GCHANNELS}
	err := ethtool(name, unsafe.Pointer(&c))
	if err != nil {
		return probes.Channels{}, err
	}
	if c.maxCombined > 0 {
		return probes.Channels{Now: int(c.combined), Max: int(c.maxCombined)}, nil
	}
	if c.maxRx == 0 {
		return probes.Channels{}, errUntold
	}
	return probes.Channels{Now: int(c.rx), Max: int(c.maxRx)}, nil
}

func pause(name string) (probes.Pause, error) {
	p := struct{ cmd, autoneg, rx, tx uint32 }{cmd: unix.ETHTOOL_GPAUSEPARAM} // struct ethtool_pauseparam
	err := ethtool(name, unsafe.Pointer(&p))
	return probes.Pause{Rx: p.rx != 0, Tx: p.tx != 0}, err
}

func eee(name string) (probes.EEE, error) {
	e := struct { // struct ethtool_eee
		cmd, supported, advertised, peer, active, enabled, lpi, timer uint32
		_                                                             [2]uint32
	}{cmd: unix.ETHTOOL_GEEE}
	err := ethtool(name, unsafe.Pointer(&e))
	return probes.EEE{Enabled: e.enabled != 0, Active: e.active != 0}, err
}

// module reads an SFP's or QSFP's memory.
func module(name string) (probes.Optics, error) {
	info := struct { // struct ethtool_modinfo
		cmd, kind, size uint32
		_               [8]uint32
	}{cmd: unix.ETHTOOL_GMODULEINFO}
	if err := ethtool(name, unsafe.Pointer(&info)); err != nil {
		return probes.Optics{}, err
	}
	memory := struct { // struct ethtool_eeprom
		cmd, magic, offset, size uint32
		data                     [qsfpPages]byte
	}{cmd: unix.ETHTOOL_GMODULEEEPROM, size: min(info.size, qsfpPages)}
	if err := ethtool(name, unsafe.Pointer(&memory)); err != nil {
		return probes.Optics{}, err
	}
	return parseOptics(info.kind, memory.data[:min(memory.size, qsfpPages)])
}

// Fixed asks which of the offloads of probes.Offloads cannot be changed.
func (Kernel) Fixed(name string) ([]string, error) {
	n := struct { // struct ethtool_sset_info with room for one size
		cmd, _ uint32
		sets   uint64
		size   uint32
	}{cmd: unix.ETHTOOL_GSSET_INFO, sets: 1 << ethSSFeatures}
	names := struct { // struct ethtool_gstrings
		cmd, set, len uint32
		data          [maxFeatures * statNameSize]byte
	}{cmd: unix.ETHTOOL_GSTRINGS, set: ethSSFeatures}
	blocks := struct { // struct ethtool_gfeatures
		cmd, size uint32
		data      [maxFeatures / 32 * 16]byte
	}{cmd: unix.ETHTOOL_GFEATURES, size: maxFeatures / 32}

	err := ethtool(name, unsafe.Pointer(&n))
	if err == nil && n.size > maxFeatures {
		// The kernel writes as many names as it has.
		err = fmt.Errorf("the kernel has %d features", n.size)
	}
	if err == nil {
		names.len = n.size
		err = errors.Join(ethtool(name, unsafe.Pointer(&names)), ethtool(name, unsafe.Pointer(&blocks)))
	}
	if err != nil {
		return nil, fmt.Errorf("features of %s: %w", name, err)
	}
	return parseFixed(names.data[:min(names.len, maxFeatures)*statNameSize], blocks.data[:]), nil
}
