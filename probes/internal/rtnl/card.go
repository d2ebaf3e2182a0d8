package rtnl

import (
	"encoding/binary"
	"math"
	"slices"

	"linerate/probes"
)

// Card is what ethtool tells of one device. Each reading is the device's own; a VLAN or a
// bond passes few of them on, so ask the device at the bottom.
type Card struct {
	Supported  probes.Reading[[]float64]       `json:"supported_bps"`  // ETHTOOL_GLINKSETTINGS; bits/s, ascending
	Offered    probes.Reading[[]float64]       `json:"offered_bps"`    // what it advertises
	Advertised probes.Reading[[]float64]       `json:"advertised_bps"` // what its link partner does
	Autoneg    probes.Reading[bool]            `json:"autoneg"`
	Rings      probes.Reading[probes.Rings]    `json:"rings"`    // ETHTOOL_GRINGPARAM
	Channels   probes.Reading[probes.Channels] `json:"channels"` // ETHTOOL_GCHANNELS
	Pause      probes.Reading[probes.Pause]    `json:"pause"`    // ETHTOOL_GPAUSEPARAM
	EEE        probes.Reading[probes.EEE]      `json:"eee"`      // ETHTOOL_GEEE
	Optics     probes.Reading[probes.Optics]   `json:"optics"`   // ETHTOOL_GMODULEEEPROM
}

// NoCard is a card that nothing is known of, for one reason.
func NoCard(err error) Card {
	speeds := probes.Unread[[]float64](err)
	return Card{
		Supported: speeds, Offered: speeds, Advertised: speeds, Autoneg: probes.Unread[bool](err),
		Rings: probes.Unread[probes.Rings](err), Channels: probes.Unread[probes.Channels](err),
		Pause: probes.Unread[probes.Pause](err), EEE: probes.Unread[probes.EEE](err),
		Optics: probes.Unread[probes.Optics](err),
	}
}

// modes are the speeds of the link modes by bit number: enum ethtool_link_mode_bit_indices
// of linux/ethtool.h. Bits between are no modes: connectors, pause, error correction.
var modes = []struct {
	first, last int
	mbit        float64
}{
	{0, 1, 10}, {2, 3, 100}, {4, 5, 1000}, {12, 12, 10_000}, {15, 15, 2500}, {17, 17, 1000}, {18, 20, 10_000},
	{21, 22, 20_000}, {23, 26, 40_000}, {27, 30, 56_000}, {31, 33, 25_000}, {34, 35, 50_000}, {36, 39, 100_000},
	{40, 40, 50_000}, {41, 41, 1000}, {42, 46, 10_000}, {47, 47, 2500}, {48, 48, 5000}, {52, 56, 50_000},
	{57, 61, 100_000}, {62, 66, 200_000}, {67, 67, 100}, {68, 68, 1000}, {69, 73, 400_000}, {75, 79, 100_000},
	{80, 84, 200_000}, {85, 89, 400_000}, {90, 91, 100}, {92, 92, 10}, {93, 98, 800_000}, {99, 102, 10},
	{103, 108, 200_000}, {109, 114, 400_000}, {115, 120, 800_000}, {121, 124, 1_600_000},
}

// speeds gives the speeds of a mask of link modes, ascending, each once, in bits/s. A
// mask is a row of 32-bit words.
func speeds(mask []byte) []float64 {
	has := func(bit int) bool {
		word := bit / 32 * 4
		return word+4 <= len(mask) && binary.NativeEndian.Uint32(mask[word:])>>(bit%32)&1 == 1
	}
	var list []float64
	for _, m := range modes {
		for bit := m.first; bit <= m.last; bit++ {
			if has(bit) {
				list = append(list, m.mbit*1e6)
				break
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

const (
	linkSettingsHeader = 48 // struct ethtool_link_settings before its masks
	autonegAt          = 11
	maskWordsAt        = 15
	// maxMaskWords is the most that the signed byte of the kernel can ask for.
	maxMaskWords = 127
)

// parseLinkSettings reads the answer to ETHTOOL_GLINKSETTINGS, a struct
// ethtool_link_settings with three masks of the same number of words behind it, into c.
func parseLinkSettings(answer []byte, c *Card) {
	var words int
	if len(answer) >= linkSettingsHeader {
		words = int(int8(answer[maskWordsAt]))
	}
	size := 4 * words
	if size <= 0 || len(answer) < linkSettingsHeader+3*size {
		short := probes.Unread[[]float64](errShort)
		c.Supported, c.Offered, c.Advertised, c.Autoneg = short, short, short, probes.Unread[bool](errShort)
		return
	}
	mask := func(i int) []float64 { return speeds(answer[linkSettingsHeader+i*size:][:size]) }
	given := func(list []float64, reason string) probes.Reading[[]float64] {
		if len(list) == 0 {
			return probes.Unknown[[]float64](probes.Absent, reason)
		}
		return probes.Got(list)
	}
	c.Supported = given(mask(0), "the driver lists no link modes")
	c.Offered = given(mask(1), "the driver offers no link modes")
	c.Advertised = given(mask(2), "the driver does not tell what the other end offers")
	c.Autoneg = probes.Got(answer[autonegAt] == 1) // AUTONEG_ENABLE
	if !c.Supported.Known() {
		// A virtual card: its 0 is no decision of anybody.
		c.Autoneg = probes.Unknown[bool](probes.Absent, "the driver lists no link modes")
	}
}

// Kinds of module memory, linux/ethtool.h.
const (
	moduleSFF8472 = 2 // SFP with diagnostics
	moduleSFF8636 = 3 // QSFP28
	moduleSFF8436 = 4 // QSFP+

	sfpPages, qsfpPages = 512, 640
)

// parseOptics reads the received light and the vendor's lower warning limit out of a
// module's memory: SFF-8472 table 9-x, SFF-8636 table 6-x. Powers are in 0.1 µW.
func parseOptics(kind uint32, memory []byte) (probes.Optics, error) {
	untold := probes.Missing{Status: probes.Absent, Reason: "the module does not tell its light"}
	power := func(at int) float64 { return float64(binary.BigEndian.Uint16(memory[at:])) }
	switch {
	case kind == moduleSFF8472 && len(memory) >= sfpPages:
		const diagnostics, calibrated = 1 << 6, 1 << 5
		if flags := memory[92]; flags&diagnostics == 0 || flags&calibrated == 0 {
			return probes.Optics{}, untold // none, or raw figures that need the vendor's polynomial
		}
		return optics(power(256+104), power(256+38))
	case (kind == moduleSFF8636 || kind == moduleSFF8436) && len(memory) >= qsfpPages:
		lanes := []float64{power(34), power(36), power(38), power(40)}
		lit := slices.DeleteFunc(lanes, func(p float64) bool { return p == 0 })
		if len(lit) == 0 {
			return optics(0, power(512+54))
		}
		return optics(slices.Min(lit), power(512+54))
	}
	return probes.Optics{}, untold
}

// optics refuses a module whose limit is 0: a copper cable, whose light is 0 as well.
func optics(received, low float64) (probes.Optics, error) {
	if low == 0 {
		return probes.Optics{}, probes.Missing{Status: probes.Absent, Reason: "the module has no light: copper"}
	}
	return probes.Optics{RxDBm: dBm(received), LowDBm: dBm(low)}, nil
}

// dBm converts from 0.1 µW. Darkness is -40 dBm, as ethtool shows it.
func dBm(power float64) float64 { return 10 * math.Log10(max(power, 1)/10000) }

// featureNames are the kernel's names of the offloads of probes.Offloads.
var featureNames = []struct{ short, kernel string }{
	{"tso", "tx-tcp-segmentation"}, {"gso", "tx-generic-segmentation"}, {"gro", "rx-gro"}, {"lro", "rx-lro"},
}

// parseFixed tells which offloads cannot be changed, as ethtool -k marks them "[fixed]":
// those that are not available for change on this device, or on any. names is the
// answer to ETHTOOL_GSTRINGS and blocks that to ETHTOOL_GFEATURES, four words for
// every 32 features: available, requested, active, never changed.
func parseFixed(names, blocks []byte) []string {
	bit := make(map[string]int)
	for i := 0; (i+1)*statNameSize <= len(names); i++ {
		bit[text(names[i*statNameSize:][:statNameSize])] = i
	}
	var fixed []string
	for _, f := range featureNames {
		n, ok := bit[f.kernel]
		block := n / 32 * 16
		if !ok || block+16 > len(blocks) {
			continue
		}
		is := func(word int) bool { return binary.NativeEndian.Uint32(blocks[block+4*word:])>>(n%32)&1 == 1 }
		const available, requested, active, neverChanged = 0, 1, 2, 3
		// One that is asked for and off all the same depends on something else: on a TUN
		// device, on the program behind it.
		if !is(available) || is(neverChanged) || is(requested) && !is(active) {
			fixed = append(fixed, f.short)
		}
	}
	return fixed
}
