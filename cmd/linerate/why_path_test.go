//go:build linux

package main

import (
	"fmt"
	"testing"
	"time"

	"linerate/cmd/linerate/internal/lab"
)

const (
	// far is 40 ms away and near 20 ms, each way counting half.
	far, near = 20 * time.Millisecond, 10 * time.Millisecond
	// buffers of this size carry some 60 to 100 Mbit/s over 40 ms.
	smallBuffer = "4096 131072 524288"
)

// pathTrials leave the cores next to nothing to do, so several run at once.
var pathTrials = []trial{
	{
		name:  "own shaper",
		build: shaped(200e6),
		flags: "-t 8", want: "R24", side: "local", says: []string{"tbf shaper of 200 Mbit/s"}, never: []string{"R23", "R39", "R41"},
	},
	{
		name: "far shaper",
		build: func(t *testing.T) (client, server *lab.Host) {
			server, client = shaped(200e6)(t)
			return client, server
		},
		flags: "-t 8 -R", want: "R24", side: "far", says: []string{"tbf shaper of 200 Mbit/s"}, never: []string{"R23", "R39", "R41"},
	},
	{
		name:  "receive window",
		build: relayed(1500, lab.Way{Delay: far}, lab.Way{Delay: far}, serverSetting("net.ipv4.tcp_rmem", smallBuffer)),
		flags: "-t 9", want: "R30", side: "far", says: []string{"far receive window", "tcp_rmem at the far end"}, never: []string{"R31", "R33", "R38"},
	},
	{
		name:  "receive window, download",
		build: relayed(1500, lab.Way{Delay: far}, lab.Way{Delay: far}, clientSetting("net.ipv4.tcp_rmem", smallBuffer)),
		flags: "-t 9 -R", want: "R30", side: "local", says: []string{"tcp_rmem here"}, never: []string{"R31", "R33", "R38"},
	},
	{
		name:  "send buffer",
		build: relayed(1500, lab.Way{Delay: far}, lab.Way{Delay: far}, clientSetting("net.ipv4.tcp_wmem", smallBuffer)),
		flags: "-t 9", want: "R33", side: "local", says: []string{"tcp_wmem here"}, never: []string{"R30", "R38"},
	},
	{
		name:  "send buffer, download",
		build: relayed(1500, lab.Way{Delay: far}, lab.Way{Delay: far}, serverSetting("net.ipv4.tcp_wmem", smallBuffer)),
		flags: "-t 9 -R", want: "R33", side: "far", says: []string{"tcp_wmem at the far end"}, never: []string{"R30", "R38"},
	},
	{
		name:  "random loss",
		build: relayed(1500, lab.Way{Delay: far, Loss: .001}, lab.Way{Delay: far}),
		flags: "-t 12 -C cubic", want: "R38", side: "path", says: []string{"random loss", "to CUBIC"}, never: []string{"R39", "R40", "R46"},
		also: mathisBetween(6e6, 20e6),
	},
	{
		name:  "random loss, download",
		build: relayed(1500, lab.Way{Delay: far}, lab.Way{Delay: far, Loss: .001}),
		flags: "-t 12 -C cubic -R", want: "R38", side: "path", never: []string{"R39", "R40", "R46"},
		also: mathisBetween(6e6, 20e6),
	},
	{
		name:  "policer",
		build: relayed(1500, lab.Way{Delay: near, Police: 50e6, Burst: 128 << 10}, lab.Way{Delay: near}),
		flags: "-t 15 -C cubic", want: "R39", side: "path", never: []string{"R38", "R40", "R41"},
	},
	{
		name:  "policer, BBR",
		build: relayed(1500, lab.Way{Delay: near, Police: 50e6, Burst: 128 << 10}, lab.Way{Delay: near}),
		flags: "-t 10 -C bbr", want: "R39", side: "path", says: []string{"about 4"}, never: []string{"R38", "R40", "R41"},
	},
	{
		name:  "deep queue",
		build: relayed(1500, lab.Way{Delay: near, Rate: 50e6, Queue: 2 << 20}, lab.Way{Delay: near, Rate: 50e6, Queue: 2 << 20}),
		flags: "-t 12 -C cubic", want: "R41", side: "path", never: []string{"R38", "R39"},
		also: func(o told) error {
			added, _ := o.verdict().number("queueing delay")
			if added < .2 || added > .4 { // 2 MiB at 50 Mbit/s take 336 ms
				return fmt.Errorf("the queue adds %.0f ms, want about 300", 1000*added)
			}
			return nil
		},
	},
	{
		name:  "black hole",
		build: relayed(9000, lab.Way{Delay: far / 4, MaxPacket: 4074}, lab.Way{Delay: far / 4}),
		flags: "-t 8", want: "R43", side: "path", says: []string{"above 4074 bytes", "9000"}, never: []string{"R44b", "X04"},
	},
	{
		name:  "black hole, download",
		build: relayed(9000, lab.Way{Delay: far / 4}, lab.Way{Delay: far / 4, MaxPacket: 4074}),
		flags: "-t 8 -R", want: "R43", side: "path", says: []string{"above 4074 bytes", "in download", "9000"}, never: []string{"R44b", "X04"},
	},
	{
		name:  "black hole at a router that is not allowed to tell",
		build: mutedRouter,
		flags: "-t 8", want: "R43", side: "path", says: []string{"above 4074 bytes", "9000"}, never: []string{"R44b", "X04"},
	},
	{
		name:  "large frames in two-way load",
		build: relayed(9000, twoWayLoss(.3), twoWayLoss(0)),
		flags: "-t 8 --bidir -C cubic", want: "R44b", side: "path", says: []string{"One direction collapses while both run", "MTU 9000", "Test it alone"}, never: []string{"R43", "X04"},
	},
	{
		name:  "reordering",
		build: relayed(1500, lab.Way{Delay: near, Rate: 100e6, Queue: 100_000, Late: .05, LateBy: 8 * time.Millisecond}, lab.Way{Delay: near}),
		flags: "-t 10 -C cubic", want: "R46", side: "path", says: []string{"out of order"}, never: []string{"R38", "R39", "R40"},
	},
}

func clientSetting(key, value string) func(t *testing.T, client, server *lab.Host) {
	return func(t *testing.T, client, _ *lab.Host) { client.Sysctl(t, key, value) }
}

func serverSetting(key, value string) func(t *testing.T, client, server *lab.Host) {
	return func(t *testing.T, _, server *lab.Host) { server.Sysctl(t, key, value) }
}

// mutedRouter joins two hosts with an MTU of 9000 by a router with one of 4074 towards the
// server, whose "packet too big" goes nowhere.
func mutedRouter(t *testing.T) (client, server *lab.Host) {
	client, server = lab.NewHost(t, "client"), lab.NewHost(t, "server")
	router := lab.NewHost(t, "router")
	lab.Through(t, client, router, server, lab.Cable{MTU: 9000, Plain: true}, lab.Cable{MTU: 9000, Plain: true})
	router.SetMTU(t, "eth1", 4074)
	router.Filter(t, "output", "meta l4proto icmp drop")
	return client, server
}

// twoWayLoss is one way of a link of 300 Mbit/s that loses a share of its large frames
// while the other way carries load too.
func twoWayLoss(share float64) lab.Way {
	return lab.Way{Delay: 2 * time.Millisecond, Rate: 300e6, Queue: 500_000, CrossPacket: 4000, CrossLoss: share}
}

func mathisBetween(least, most float64) func(told) error {
	return func(o told) error {
		if m, ok := o.verdict().number("Mathis rate"); !ok || m < least || m > most {
			return fmt.Errorf("a Mathis rate of %.3g bit/s, want %.2g to %.2g", m, least, most)
		}
		return nil
	}
}

// Whatever is wrong with a path is what linerate says.
func TestNetnsWhyPath(t *testing.T) {
	lab.Need(t, "nft")
	first := together(t, pathTrials)
	for i, c := range pathTrials {
		t.Run(c.name, func(t *testing.T) {
			tries := 0
			inTries(t, func(t *testing.T) error {
				if tries++; tries > 1 {
					return c.try(t)
				}
				return c.review(t, first[i])
			})
		})
	}
}
