package engine

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/probes"
)

func TestDropsOf(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	happened := probes.Vitals{
		At: at,
		Link: probes.Got(probes.Counters{"rx_missed_errors": 1, "rx_dropped": 2, "rx_errors": 3, "tx_dropped": 4, "tx_errors": 5,
			"rx_packets": 1e6}),
		Softnet: probes.Got([]probes.Softnet{{Core: 0, Dropped: 6}, {Core: 3, Dropped: 1}}),
		Qdiscs:  probes.Got([]probes.Qdisc{{Kind: "mq", Parent: "root", Dropped: 8}, {Kind: "fq", Parent: ":1", Dropped: 8}}),
	}
	want := Drops{At: at, RxMissed: 1, RxDropped: 2, RxErrors: 3, TxDropped: 4, TxErrors: 5, Backlog: 7, Queue: 8}
	got, ok := DropsOf(happened).Get()
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	happened.Link = probes.Unknown[probes.Counters](probes.Denied, "no netlink here")
	if r := DropsOf(happened); r.Known() || r.Why() != "no netlink here" {
		t.Errorf("without the interface: %+v, want unknown", r)
	}
}
