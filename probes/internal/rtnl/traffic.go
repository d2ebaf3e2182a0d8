package rtnl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"

	"linerate/probes"
)

// Traffic is what an interface has counted and what queues in front of it.
type Traffic struct {
	Index    int
	Kind     string                 // IFLA_INFO_KIND, as in Link
	Counters probes.Counters        // named as the fields of struct rtnl_link_stats64
	Carrier  probes.Reading[uint64] // IFLA_CARRIER_CHANGES
	// Qdiscs are the interface's queueing disciplines, and the classes of HTB, in the
	// order of the kernel; see probes.Qdisc.
	Qdiscs probes.Reading[[]probes.Qdisc]
}

// statNames are the fields of struct rtnl_link_stats64 (linux/if_link.h) in their order.
// Kernels append to the struct, so an older one sends fewer.
var statNames = [...]string{
	"rx_packets", "tx_packets", "rx_bytes", "tx_bytes", "rx_errors", "tx_errors", "rx_dropped", "tx_dropped",
	"multicast", "collisions", "rx_length_errors", "rx_over_errors", "rx_crc_errors", "rx_frame_errors",
	"rx_fifo_errors", "rx_missed_errors", "tx_aborted_errors", "tx_carrier_errors", "tx_fifo_errors",
	"tx_heartbeat_errors", "tx_window_errors", "rx_compressed", "tx_compressed", "rx_nohandler", "rx_otherhost_dropped",
}

// Attributes of RTM_NEWLINK, linux/if_link.h.
const (
	iflaLinkInfo       = 18
	iflaInfoKind       = 1 // within IFLA_LINKINFO
	iflaStats64        = 23
	iflaCarrierChanges = 35
)

// Attributes of RTM_NEWQDISC and RTM_NEWTCLASS, linux/rtnetlink.h and
// linux/gen_stats.h.
const (
	tcaKind    = 1
	tcaOptions = 2
	tcaStats2  = 7

	tcaStatsQueue = 3
)

// Attributes within TCA_OPTIONS that hold a rate, linux/pkt_sched.h. All rates are bytes
// per second; a tc_ratespec holds its rate in 32 bits, and one that does not fit is all
// ones there and whole in the 64-bit attribute.
const (
	tbfParms, tbfRate64     = 1, 4
	htbParms, htbCeil64     = 1, 7
	cakeBaseRate64          = 2
	fqFlowMaxRate           = 7
	netemRate, netemRate64  = 6, 8
	netemOptions            = 24 // struct tc_netem_qopt, before the attributes
	rateSpec                = 12 // struct tc_ratespec; the rate is its last field
	attrTypeMask            = 0x3fff
	linkHeader, classHeader = 16, 20 // struct ifinfomsg, struct tcmsg
)

// Handles with a name of their own, linux/pkt_sched.h.
const (
	handleRoot    = 0xffffffff
	handleIngress = 0xfffffff1
)

var errShort = errors.New("the kernel's message is too short")

// attributes walks the type-length-value list that ends a netlink message. It stops at a
// length that cannot be.
func attributes(b []byte) iter.Seq2[uint16, []byte] {
	return func(yield func(uint16, []byte) bool) {
		for len(b) >= 4 {
			size := int(binary.NativeEndian.Uint16(b))
			if size < 4 || size > len(b) {
				return
			}
			if !yield(binary.NativeEndian.Uint16(b[2:])&attrTypeMask, b[4:size]) {
				return
			}
			b = b[min((size+3)&^3, len(b)):]
		}
	}
}

// parseLink reads the counters of an RTM_NEWLINK message.
func parseLink(msg []byte) (Traffic, error) {
	if len(msg) < linkHeader {
		return Traffic{}, errShort
	}
	t := Traffic{
		Index:   int(int32(binary.NativeEndian.Uint32(msg[4:]))),
		Carrier: probes.Unknown[uint64](probes.Absent, "the kernel does not count changes of the carrier"),
	}
	for kind, value := range attributes(msg[linkHeader:]) {
		switch {
		case kind == iflaStats64:
			t.Counters = parseStats(value)
		case kind == iflaCarrierChanges && len(value) >= 4:
			t.Carrier = probes.Got(uint64(binary.NativeEndian.Uint32(value)))
		case kind == iflaLinkInfo:
			for kind, value := range attributes(value) {
				if kind == iflaInfoKind {
					t.Kind = text(value)
				}
			}
		}
	}
	if t.Counters == nil {
		return t, probes.Missing{Status: probes.Absent, Reason: "the kernel gave no statistics"}
	}
	return t, nil
}

func parseStats(value []byte) probes.Counters {
	c := make(probes.Counters, len(statNames))
	for i, name := range statNames {
		if len(value) < 8*(i+1) {
			break
		}
		c[name] = binary.NativeEndian.Uint64(value[8*i:])
	}
	return c
}

// parseQdisc reads an RTM_NEWQDISC or RTM_NEWTCLASS message, and of which interface it
// tells.
func parseQdisc(msg []byte) (q probes.Qdisc, handle uint32, index int, err error) {
	if len(msg) < classHeader {
		return q, 0, 0, errShort
	}
	index = int(int32(binary.NativeEndian.Uint32(msg[4:])))
	handle = binary.NativeEndian.Uint32(msg[8:])
	q.Parent = handleName(binary.NativeEndian.Uint32(msg[12:]))
	var options []byte
	for kind, value := range attributes(msg[classHeader:]) {
		switch kind {
		case tcaKind:
			q.Kind = text(value)
		case tcaOptions:
			options = value
		case tcaStats2:
			parseQueueStats(value, &q)
		}
	}
	if q.Kind == "" {
		return q, 0, 0, errors.New("a queueing discipline without a kind")
	}
	q.RateBps = shaperRate(q.Kind, options)
	return q, handle, index, nil
}

// parseQueueStats reads struct gnet_stats_queue. Its counters have 32 bits.
func parseQueueStats(value []byte, q *probes.Qdisc) {
	for kind, v := range attributes(value) {
		if kind != tcaStatsQueue || len(v) < 20 {
			continue
		}
		field := func(i int) uint64 { return uint64(binary.NativeEndian.Uint32(v[4*i:])) }
		q.Backlog, q.Dropped, q.Requeues, q.Overlimits = field(1), field(2), field(3), field(4)
	}
}

// shaperRate gives the rate that a discipline or class shapes to, bits/s; 0 when it does
// not shape.
func shaperRate(kind string, options []byte) float64 {
	switch kind {
	case "tbf":
		return wireRate(options, tbfParms, rateSpec, tbfRate64)
	case "htb": // the ceiling, behind the assured rate
		return wireRate(options, htbParms, 2*rateSpec, htbCeil64)
	case "netem":
		return wireRate(options[min(netemOptions, len(options)):], netemRate, 4, netemRate64)
	case "cake":
		return wireRate(options, 0, 0, cakeBaseRate64)
	case "fq":
		return wireRate(options, fqFlowMaxRate, 4, 0)
	}
	return 0
}

// wireRate finds the 32-bit rate that ends at byte end of attribute small, and the 64-bit
// rate of attribute large, which counts if it is there. 0 as an attribute is none.
func wireRate(options []byte, small uint16, end int, large uint16) float64 {
	var narrow uint32
	var wide uint64
	for kind, v := range attributes(options) {
		switch {
		case kind == small && small != 0 && len(v) >= end:
			narrow = binary.NativeEndian.Uint32(v[end-4:])
		case kind == large && large != 0 && len(v) >= 8:
			wide = binary.NativeEndian.Uint64(v)
		}
	}
	switch {
	case wide != 0 && wide != math.MaxUint64:
		return float64(wide) * 8
	case narrow != math.MaxUint32: // fq: no limit
		return float64(narrow) * 8
	}
	return 0
}

// handleName writes a handle as tc does: "root", "1:", "8001:2".
func handleName(h uint32) string {
	switch h {
	case handleRoot:
		return "root"
	case handleIngress:
		return "ingress"
	case 0:
		return "none"
	}
	major, minor := "", ""
	if h>>16 != 0 {
		major = fmt.Sprintf("%x", h>>16)
	}
	if h&0xffff != 0 {
		minor = fmt.Sprintf("%x", h&0xffff)
	}
	return major + ":" + minor
}

// text is a string with its closing zero.
func text(value []byte) string {
	for i, c := range value {
		if c == 0 {
			return string(value[:i])
		}
	}
	return string(value)
}

// tooLong is a name that no interface can have (IFNAMSIZ).
func tooLong(name string) bool { return name == "" || len(name) > 15 }

// statNameSize is ETH_GSTRING_LEN.
const statNameSize = 32

// named pairs n names and values of ETHTOOL_GSTRINGS and ETHTOOL_GSTATS. Some drivers
// leave gaps, which have no name.
func named(names, values []byte, n int) probes.Counters {
	c := make(probes.Counters, n)
	for i := range n {
		if name := text(names[i*statNameSize : (i+1)*statNameSize]); name != "" {
			c[name] = binary.NativeEndian.Uint64(values[i*8:])
		}
	}
	return c
}
