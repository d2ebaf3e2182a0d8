package report

import (
	"fmt"

	"linerate/engine"
	"linerate/probes"
)

// final writes the table after the last interval: both ends' accounts on a client, its
// own on a server, one direction after the other.
func (t *Text) final(r engine.Result) {
	t.line("%s", separator)
	if t.opt.Verbose {
		t.line("Test Complete. Summary Results:")
	}
	spec := t.info.Spec
	t.line("%s", header(spec.Direction == engine.Both, t.finalRetr(r), false))
	for _, dir := range spec.Direction.Dirs() {
		t.finalOf(r, dir)
	}
}

// finalRetr reports whether a sender's line of the final table has a Retr column.
func (t *Text) finalRetr(r engine.Result) bool {
	for _, s := range r.Streams {
		if s.Sent.Known() && counts(s.Retransmits) && (s.Sender || t.info.Role == engine.Client) {
			return true
		}
	}
	return false
}

func (t *Text) finalOf(r engine.Result, dir engine.Direction) {
	sender := false
	for _, s := range r.Streams {
		if s.Dir != dir {
			continue
		}
		sender = s.Sender
		t.accounts(streamID(s.Socket), sender, s.Sent, s.Received, s.Retransmits)
	}
	if t.info.Spec.Streams > 1 {
		t.accounts("[SUM]", sender, r.Sent(dir), r.Received(dir), r.Retransmits(dir))
	}
	if t.opt.Verbose {
		t.usage(r, sender)
	}
}

// accounts writes the sender's and the receiver's line of one stream or sum. The other
// end's half is unknown on a server, which prints before the ends compare their books
// (only -V says so), and on a client whose test was cut short: iperf3 prints 0.00 Bytes
// there, but nothing is known to have been zero.
func (t *Text) accounts(id string, sender bool, sent, received probes.Reading[engine.End], retr probes.Reading[uint64]) {
	t.account(id, sender, sender, sent, sumOrStreamRetr(id, retr)+"sender", "sender")
	t.account(id, sender, !sender, received, noRetr+"receiver", "receiver")
}

// account writes one half; own tells whether it is this end's.
func (t *Text) account(id string, sender, own bool, e probes.Reading[engine.End], tail, half string) {
	hidden := !own && t.info.Role == engine.Server
	switch {
	case e.Known() && !hidden:
		m := measure{id: id + t.role(sender), end: e.Value.Seconds, bytes: e.Value.Bytes}
		t.line("%s%s", m.prefix(t.opt.Format), tail)
	case !hidden || t.opt.Verbose:
		t.line("%s (%s statistics not available)", id, half)
	}
}

// sumOrStreamRetr is the Retr column of a final line with the blanks behind it, one more
// for a sum.
func sumOrStreamRetr(id string, retr probes.Reading[uint64]) string {
	switch {
	case !counts(retr):
		return noRetr
	case id == "[SUM]":
		return retrColumn(retr) + "             "
	}
	return retrColumn(retr) + "            "
}

// usage writes the lines of -V on CPU and congestion control. iperf3 gives the CPU only
// where the local end sends, and in both-way tests in both readings.
func (t *Text) usage(r engine.Result, sender bool) {
	if sender {
		t.line("%s", cpuLine("sender", "receiver", r))
		if t.info.Spec.Direction == engine.Both {
			t.line("%s", cpuLine("receiver", "sender", r))
		}
	}
	snd, rcv := r.LocalCongestion, r.RemoteCongestion
	if !sender {
		snd, rcv = rcv, snd
	}
	server := t.info.Role == engine.Server
	if snd != "" && (sender || !server) {
		t.line("snd_tcp_congestion %s", snd)
	}
	if rcv != "" && (!sender || !server) {
		t.line("rcv_tcp_congestion %s", rcv)
	}
}

func cpuLine(local, remote string, r engine.Result) string {
	far := "not told"
	if u, ok := r.RemoteCPU.Get(); ok {
		far = cpuUse(u)
	}
	return fmt.Sprintf("CPU Utilization: local/%s %s, remote/%s %s", local, cpuUse(r.LocalCPU), remote, far)
}

func cpuUse(u engine.CPUUse) string {
	return fmt.Sprintf("%.1f%% (%.1f%%u/%.1f%%s)", u.Total, u.User, u.System)
}
