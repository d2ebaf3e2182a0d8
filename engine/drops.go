package engine

import (
	"time"

	"linerate/probes"
)

// Drops are the packets that a computer has lost by itself in the running step. Which of
// the places count depends on what it tells.
type Drops struct {
	At        time.Time // of the reading
	RxMissed  uint64    // no room in the card's ring: rx_missed_errors
	RxDropped uint64    // by the stack, unknown protocols included
	RxErrors  uint64    // damaged frames
	TxDropped uint64
	TxErrors  uint64
	Backlog   uint64 // a core's packet backlog was full, over all cores and interfaces: softnet_stat
	Queue     uint64 // by the queues before the interface: qdisc
}

// DropsOf takes the drops out of what happened between two readings. Unknown where the
// interface does not tell.
func DropsOf(happened probes.Vitals) probes.Reading[Drops] {
	link, ok := happened.Link.Get()
	if !ok {
		return probes.Unknown[Drops](happened.Link.Status, happened.Link.Why())
	}
	d := Drops{
		At: happened.At, RxMissed: link["rx_missed_errors"], RxDropped: link["rx_dropped"], RxErrors: link["rx_errors"],
		TxDropped: link["tx_dropped"], TxErrors: link["tx_errors"],
	}
	for _, core := range happened.Softnet.Or(nil) {
		d.Backlog += uint64(core.Dropped)
	}
	for _, q := range happened.Qdiscs.Or(nil) {
		if q.Parent == "root" { // it counts what those below it drop
			d.Queue += q.Dropped
		}
	}
	return probes.Got(d)
}
