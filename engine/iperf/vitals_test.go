package iperf

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/probes"
)

func TestPicked(t *testing.T) {
	driver := probes.Counters{"tx_packets": 5}
	for i := range 500 {
		driver[fmt.Sprintf("rx_queue_%03d_packets", i)] = 1
		driver[fmt.Sprintf("rx_queue_%03d_drops", i)] = 1
	}
	given := probes.Vitals{
		TCP: probes.Got(probes.Counters{
			"TcpExt.TCPTimeouts": 1, "Tcp.RetransSegs": 2, "Udp6RcvbufErrors": 3, "Ip.FragFails": 4, "Icmp6InPktTooBigs": 5, "IpExt.InCEPkts": 6,
			"Ip.InReceives": 7, "IpExt.InOctets": 8,
		}),
		Link:   probes.Got(probes.Counters{"rx_bytes": 1, "rx_dropped": 2}),
		Driver: probes.Got(driver),
	}
	v := picked(given)
	want := probes.Counters{"TcpExt.TCPTimeouts": 1, "Tcp.RetransSegs": 2, "Udp6RcvbufErrors": 3, "Ip.FragFails": 4, "Icmp6InPktTooBigs": 5, "IpExt.InCEPkts": 6}
	if diff := cmp.Diff(want, v.TCP.Value); diff != "" {
		t.Errorf("TCP: want − got +\n%s", diff)
	}
	if len(v.Link.Value) != 2 {
		t.Errorf("link %v, want all of it", v.Link.Value)
	}
	if len(v.Driver.Value) != maxDriver || v.Driver.Value["rx_queue_000_drops"] != 1 {
		t.Errorf("%d counters of the driver, want %d, the first among them", len(v.Driver.Value), maxDriver)
	}
	if diff := cmp.Diff(v, picked(given)); diff != "" {
		t.Errorf("another choice the second time:\n%s", diff)
	}
	if len(driver) != 1001 || len(given.TCP.Value) != 8 {
		t.Error("the counters given were changed")
	}
}

// TestCounterNames: what stands still is left out after the first time, and back at the
// other end.
func TestCounterNames(t *testing.T) {
	var k counterNames
	set := func(c probes.Counters) probes.Vitals { return probes.Vitals{TCP: probes.Got(c)} }
	for i, step := range []struct{ told, want probes.Counters }{
		{probes.Counters{"a": 0, "b": 2}, probes.Counters{"a": 0, "b": 2}},
		{probes.Counters{"b": 3}, probes.Counters{"a": 0, "b": 3}},
		{probes.Counters{"c": 1}, probes.Counters{"a": 0, "b": 0, "c": 1}},
		{nil, probes.Counters{"a": 0, "b": 0, "c": 0}},
	} {
		v := set(step.told)
		if err := k.complete(&v); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.want, v.TCP.Value); diff != "" {
			t.Errorf("step %d: want − got +\n%s", i, diff)
		}
		if v.Link.Known() {
			t.Errorf("step %d: a set that nobody told is known: %+v", i, v.Link)
		}
	}
	for i := range 3 {
		c := make(probes.Counters)
		for j := range 1000 {
			c[fmt.Sprint(i, j)] = 1
		}
		v := set(c)
		if err := k.complete(&v); (err == nil) != (i < 2) {
			t.Errorf("%d names: %v", 1000*(i+1), err)
		}
	}
}

func TestRebase(t *testing.T) {
	at := time.Now()
	first := probes.Vitals{
		At: at, TCP: probes.Got(probes.Counters{"a": 10}), Link: probes.Got(probes.Counters{"rx": 900}),
		Driver: probes.Unknown[probes.Counters](probes.NotRead, "being read"),
	}
	later := probes.Vitals{
		At: at.Add(time.Second), TCP: probes.Got(probes.Counters{"a": 15, "new": 7}), Link: probes.Got(probes.Counters{"rx": 100}),
		Driver: probes.Got(probes.Counters{"drops": 5}), Carrier: probes.Got(uint64(3)),
	}
	last := later
	last.At = at.Add(2 * time.Second)
	last.TCP = probes.Got(probes.Counters{"a": 16, "new": 9})
	last.Link = probes.Got(probes.Counters{"rx": 150})
	last.Driver = probes.Got(probes.Counters{"drops": 6})
	last.Carrier = probes.Got(uint64(4))

	base := first
	rebase(&base, first)
	rebase(&base, later)
	rebase(&base, last)
	got := last.Since(base)
	want := probes.Vitals{
		At: last.At, Window: 2 * time.Second,
		TCP: probes.Got(probes.Counters{"a": 6, "new": 2}), Link: probes.Got(probes.Counters{"rx": 50}),
		Driver: probes.Got(probes.Counters{"drops": 1}), Carrier: probes.Got(uint64(1)),
	}
	for what, pair := range map[string][2]any{
		"TCP": {want.TCP, got.TCP}, "link": {want.Link, got.Link}, "driver": {want.Driver, got.Driver},
		"carrier": {want.Carrier, got.Carrier}, "window": {want.Window, got.Window},
	} {
		if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
			t.Errorf("%s: want − got +\n%s", what, diff)
		}
	}
	if first.TCP.Value["new"] != 0 || later.TCP.Value["new"] != 7 {
		t.Error("readings were changed")
	}
}
