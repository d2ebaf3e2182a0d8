package rtnl

import (
	"encoding/binary"
	"fmt"

	"linerate/probes"
)

const genericHeader = 4 // struct genlmsghdr

// Attributes of nl80211, linux/nl80211.h.
const (
	wlanIfindex    = 3
	wlanStation    = 0x15
	wlanPowerState = 0x5d

	stationSignal    = 7
	stationTxRate    = 8
	stationTxPackets = 10
	stationTxRetries = 11
	stationSignalAvg = 13
	stationRxRate    = 14

	rateNarrow, rateWide = 1, 5 // 16 and 32 bits, in units of 100 kbit/s
	rateUnit             = 100e3
)

// parseStation reads one message of a station dump: the access point, seen from a client.
func parseStation(msg []byte) (probes.WiFi, error) {
	if len(msg) < genericHeader {
		return probes.WiFi{}, errShort
	}
	var info []byte
	for kind, v := range attributes(msg[genericHeader:]) {
		if kind == wlanStation {
			info = v
		}
	}
	if info == nil {
		return probes.WiFi{}, errShort
	}
	w := probes.WiFi{Retries: probes.Unknown[float64](probes.Absent, "the driver does not count retries")}
	var packets, retries uint32
	counted := false
	for kind, v := range attributes(info) {
		switch {
		case kind == stationTxRate:
			w.TxBps = bitrate(v)
		case kind == stationRxRate:
			w.RxBps = bitrate(v)
		case kind == stationSignal && len(v) > 0 && w.SignalDBm == 0, kind == stationSignalAvg && len(v) > 0:
			w.SignalDBm = int(int8(v[0])) // the average is steadier
		case kind == stationTxPackets && len(v) >= 4:
			packets = binary.NativeEndian.Uint32(v)
		case kind == stationTxRetries && len(v) >= 4:
			retries, counted = binary.NativeEndian.Uint32(v), true
		}
	}
	if w.TxBps == 0 {
		return w, probes.Missing{Status: probes.Absent, Reason: "the driver tells no bit rate"}
	}
	if counted && packets > 0 {
		w.Retries = probes.Got(float64(retries) / float64(packets))
	}
	return w, nil
}

// bitrate reads NL80211_RATE_INFO; 0 when it holds no rate.
func bitrate(info []byte) float64 {
	var bps float64
	for kind, v := range attributes(info) {
		switch {
		case kind == rateWide && len(v) >= 4:
			return float64(binary.NativeEndian.Uint32(v)) * rateUnit
		case kind == rateNarrow && len(v) >= 2:
			bps = float64(binary.NativeEndian.Uint16(v)) * rateUnit
		}
	}
	return bps
}

// oneStation takes the only station of a dump. A client sees its access point, an access
// point all its clients.
func oneStation(messages [][]byte) (probes.WiFi, error) {
	switch len(messages) {
	case 0:
		return probes.WiFi{}, probes.Missing{Status: probes.Absent, Reason: "not connected to an access point"}
	case 1:
		return parseStation(messages[0])
	}
	return probes.WiFi{}, probes.Missing{Status: probes.Absent, Reason: fmt.Sprintf("%d stations on this radio, each with a rate of its own", len(messages))}
}

// parsePowerSave reads the answer to NL80211_CMD_GET_POWER_SAVE.
func parsePowerSave(messages [][]byte) (bool, error) {
	for _, m := range messages {
		if len(m) < genericHeader {
			continue
		}
		for kind, v := range attributes(m[genericHeader:]) {
			if kind == wlanPowerState && len(v) >= 4 {
				return binary.NativeEndian.Uint32(v) == 1, nil // NL80211_PS_ENABLED
			}
		}
	}
	return false, errShort
}
