package main

import (
	"context"
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"linerate/engine"
	"linerate/engine/iperf"
	"linerate/engine/session"
	"linerate/engine/unit"
	"linerate/probes/host"
)

// goodput is the share of an Ethernet line's speed that TCP payload can have with an MTU
// of 1500: 1448 of 1538 bytes per packet.
const goodput = 1448.0 / 1538

// demo runs the dashboard against a server of its own on the loopback interface.
func (a *app) demo(cmd *cobra.Command, o *options, args []string) error {
	if len(args) > 0 {
		return usage("unexpected "+quote(args[0]), "demo needs no host: it brings its own server")
	}
	if o.demo.perStream > 0 && o.demo.link == 0 {
		return usage("--per-stream: only on a simulated link", "add --link, such as --link 10G")
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		cancel()
		return failure(fmt.Errorf("starting the demo's server: %w", err), "")
	}
	source := host.New() // not the session's: each reads its own loads
	defer source.Close()
	server := iperf.Server{Affinity: -1, Host: source, Agent: agent()}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, ln) }()
	defer func() {
		cancel()
		<-served
	}()
	port := ln.Addr().(*net.TCPAddr).Port
	cfg := session.Config{Label: "demo", Auto: o.demo.auto}
	o.demo.simulate(&cfg)
	return a.watch(cmd, o, target{host: "127.0.0.1", port: port}, cfg)
}

// simulate makes the session look as over a link of the given speed, on which one stream
// reaches only so much.
func (d demoOptions) simulate(cfg *session.Config) {
	if d.link == 0 {
		return
	}
	cfg.LinkBps = d.link
	cfg.Label = "simulated link " + unit.Rate(d.link)
	cfg.Shape = func(s engine.Spec) engine.Spec {
		limit := d.link * goodput / float64(s.Streams)
		for _, other := range []float64{d.perStream, s.Bitrate} {
			if other > 0 {
				limit = min(limit, other)
			}
		}
		s.Bitrate = limit
		return s
	}
}
