package probes

// Adapter is the hardware and the settings behind a NIC: the static tier, read at the
// start, when the link changes and every 30 s.
type Adapter struct {
	// Device is the interface that the fields of hardware speak of: the last of Chain, or
	// of a bond the member that the others stand for. An ethtool command names it.
	Device     string             `json:"device"`
	Supported  Reading[[]float64] `json:"supported_bps"`  // link speeds the card can do, bits/s
	Offered    Reading[[]float64] `json:"offered_bps"`    // of these, what it offers to the other end
	Advertised Reading[[]float64] `json:"advertised_bps"` // by the other end of the cable
	Autoneg    Reading[bool]      `json:"autoneg"`
	Rings      Reading[Rings]     `json:"rings"`
	Channels   Reading[Channels]  `json:"channels"`
	Pause      Reading[Pause]     `json:"pause"`
	EEE        Reading[EEE]       `json:"eee"`
	PCIe       Reading[PCIe]      `json:"pcie"`
	USB        Reading[float64]   `json:"usb_bps"`     // signalling rate of the port a USB card is plugged into, bits/s
	ASPM       Reading[bool]      `json:"aspm"`        // link/l1_aspm of the PCI function
	NUMA       Reading[int]       `json:"numa"`        // node of the card; Absent where there is one
	LocalCores Reading[[]int]     `json:"local_cores"` // cores near the card
	RPS        Reading[bool]      `json:"rps"`         // any rps_cpus set on its receive queues
	Fixed      []string           `json:"fixed"`       // offloads of the route's device that cannot be changed: "tso", "gso", "gro", "lro"
	Chain      []Layer            `json:"chain"`       // from the route's device down to the wire
	Members    Reading[[]Member]  `json:"members"`     // of a bond
	WiFi       Reading[WiFi]      `json:"wifi"`
	Optics     Reading[Optics]    `json:"optics"`
}

// Rings are receive and transmit descriptor counts: ethtool -g.
type Rings struct {
	Rx    int `json:"rx"`
	RxMax int `json:"rx_max"`
	Tx    int `json:"tx"`
	TxMax int `json:"tx_max"`
}

// Channels are queue pairs: ethtool -l. Combined, or receive queues where a card has
// them apart.
type Channels struct {
	Now int `json:"now"`
	Max int `json:"max"`
}

// Pause is whether the card obeys and sends pause frames: ethtool -a.
type Pause struct {
	Rx bool `json:"rx"`
	Tx bool `json:"tx"`
}

// EEE is Energy-Efficient Ethernet: ethtool --show-eee.
type EEE struct {
	Enabled bool `json:"enabled"`
	Active  bool `json:"active"` // both ends agreed
}

// PCIe is the narrowest link between the card and the processor, each direction.
type PCIe struct {
	GTps    float64 `json:"gt_per_s"` // per lane, now
	Lanes   int     `json:"lanes"`
	MaxGTps float64 `json:"max_gt_per_s"` // what the card itself could do
	MaxLane int     `json:"max_lanes"`
	At      string  `json:"at"`         // address of the narrowest function
	Usable  float64 `json:"usable_bps"` // bits/s after coding and packet overhead
}

// Layer is one device of the chain a packet passes on its way to the wire.
type Layer struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`     // "vlan", "pppoe", "wireguard", "bridge", "bond", "physical" …
	Overhead int    `json:"overhead"` // bytes it adds inside the lower device's frame
	MTU      int    `json:"mtu"`
	Note     string `json:"note,omitempty"` // what is assumed, or why the chain ends above the wire

	SpeedBps Reading[float64] `json:"speed_bps"` // line speed, bits/s, as NIC.SpeedBps
}

// Member is one leg of a bond.
type Member struct {
	Name     string  `json:"name"`
	SpeedBps float64 `json:"speed_bps"`
	RxBytes  uint64  `json:"rx_bytes"`
	TxBytes  uint64  `json:"tx_bytes"`
}

// WiFi is the radio link to the access point: nl80211's station dump.
type WiFi struct {
	TxBps     float64       `json:"tx_bps"`
	RxBps     float64       `json:"rx_bps"`
	SignalDBm int           `json:"signal_dbm"`
	PowerSave Reading[bool] `json:"power_save"`

	Retries Reading[float64] `json:"retries"` // sent frames that had to be repeated, as a share of all sent
}

// Optics is the light that reaches an optical module: ethtool -m, which needs
// CAP_NET_ADMIN.
type Optics struct {
	RxDBm  float64 `json:"rx_dbm"`
	LowDBm float64 `json:"low_dbm"` // from here down the vendor warns
}

// Setting is one kernel setting and how far it reaches.
type Setting struct {
	Value string `json:"value"`
	Host  bool   `json:"host"` // one for the whole host: a container cannot change it
}

// Settings are sysctls by dotted name ("net.ipv4.tcp_rmem").
type Settings map[string]Reading[Setting]

// Firewall is what stands between the NIC and the socket.
type Firewall struct {
	Kind    Reading[string] `json:"kind"`    // "nftables", "iptables", "none"; with the manager where known: "nftables (firewalld)"
	Rules   Reading[int]    `json:"rules"`   // Denied without CAP_NET_ADMIN
	Tracked Reading[bool]   `json:"tracked"` // connection tracking is loaded
	Router  Reading[bool]   `json:"router"`  // forwards for others: ip_forward and more than one interface up
}

// Disk is the device behind a path.
type Disk struct {
	Name     string           `json:"name"`
	Class    Reading[string]  `json:"class"`     // "nvme", "ssd", "hdd", "usb", "mmc", "memory"
	LimitBps Reading[float64] `json:"limit_bps"` // bits/s that its class or bus allows
	File     string           `json:"file"`      // file system type
}
