package probes

import "net/netip"

// NIC is one network interface.
type NIC struct {
	Name     string               `json:"name"`
	Kind     Reading[string]      `json:"kind"` // "physical", "loopback", "veth", "bridge", "vlan", "bond", "wireguard", "tun", "wifi" …
	Driver   Reading[string]      `json:"driver"`
	SpeedBps Reading[float64]     `json:"speed_bps"` // bits per second; unknown where a driver's figure means nothing (veth, tun, virtio)
	Duplex   Reading[string]      `json:"duplex"`    // "full" or "half"
	MTU      Reading[int]         `json:"mtu"`       // bytes
	Up       Reading[bool]        `json:"up"`
	Offloads Offloads             `json:"offloads"`
	RxQueues Reading[int]         `json:"rx_queues"`
	TxQueues Reading[int]         `json:"tx_queues"`
	Counters Reading[NICCounters] `json:"counters"`
}

// Offloads are the segmentation and receive offloads that decide the cost of a packet.
type Offloads struct {
	TSO Reading[bool] `json:"tso"`
	GSO Reading[bool] `json:"gso"`
	GRO Reading[bool] `json:"gro"`
	LRO Reading[bool] `json:"lro"`
}

// NICCounters are totals since the interface came up.
type NICCounters struct {
	RxBytes   uint64 `json:"rx_bytes"`
	TxBytes   uint64 `json:"tx_bytes"`
	RxPackets uint64 `json:"rx_packets"`
	TxPackets uint64 `json:"tx_packets"`
	RxErrors  uint64 `json:"rx_errors"`
	TxErrors  uint64 `json:"tx_errors"`
	RxDropped uint64 `json:"rx_dropped"`
	TxDropped uint64 `json:"tx_dropped"`
	RxMissed  uint64 `json:"rx_missed"` // no descriptor in the ring: RTM_GETLINK rx_missed_errors
}

// Route is how packets leave this host towards one address.
type Route struct {
	Dest    netip.Addr   `json:"dest"`
	Source  netip.Addr   `json:"source"`  // the local address used
	Gateway netip.Addr   `json:"gateway"` // invalid when the destination is on the link
	NIC     Reading[NIC] `json:"nic"`
}
