package report

import (
	"fmt"
	"net/netip"
	"time"
	"unicode/utf8"

	"linerate/engine"
	"linerate/probes"
)

const (
	separator = "- - - - - - - - - - - - - - - - - - - - - - - - -"
	dashes    = "-----------------------------------------------------------"
	noRetr    = "                  " // where Retr and Cwnd would be
)

// header is the line above a table. Role tags are there in both-way tests; retr adds the
// columns of a sending end that knows its retransmits, cwnd those of the intervals.
func header(roles, retr, cwnd bool) string {
	s := "[ ID]"
	if roles {
		s += "[Role]"
	}
	s += " Interval           Transfer     Bitrate"
	if retr {
		s += "         Retr"
		if cwnd {
			s += "  Cwnd"
		}
	}
	return s
}

// roleTag names this end's part in one direction of a both-way test: [TX-C] sends on the
// client, [RX-S] receives on the server.
func roleTag(role engine.Role, sender bool) string {
	switch {
	case role == engine.Client && sender:
		return "[TX-C]"
	case role == engine.Client:
		return "[RX-C]"
	case sender:
		return "[TX-S]"
	}
	return "[RX-S]"
}

// measure is what all lines of a table begin with.
type measure struct {
	id         string // "[  5]" or "[SUM]", with the role tag in both-way tests
	start, end float64
	bytes      uint64
}

func (m measure) prefix(format byte) string {
	perSecond := 0.0
	if m.end > m.start {
		perSecond = float64(m.bytes) / (m.end - m.start)
	}
	return fmt.Sprintf("%s %6.2f-%-6.2f sec  %s  %s", m.id, m.start, m.end,
		amount(float64(m.bytes)), rate(perSecond, format))
}

// counts reports whether a table has a column for r: a known count, or one that this
// system can give and merely did not.
func counts(r probes.Reading[uint64]) bool {
	return r.Known() || r.Status == probes.Failed || r.Status == probes.Denied
}

func retrColumn(r probes.Reading[uint64]) string {
	if n, ok := r.Get(); ok {
		return fmt.Sprintf("  %3d", n)
	}
	return "    –"
}

// intervalTail is what follows the rate on a stream's interval line.
func intervalTail(s engine.StreamInterval, tag string) string {
	if !s.Sender || !counts(s.Retransmits) {
		return noRetr + tag
	}
	cwnd := "–          "
	if tcp, ok := s.TCP.Get(); ok {
		cwnd = amount(float64(tcp.CwndBytes()))
	}
	return retrColumn(s.Retransmits) + "   " + padLeft(cwnd, 11) + "       " + tag
}

// sumTail is what follows the rate on the interval line of a sum, which has no Cwnd.
func sumTail(sender bool, retr probes.Reading[uint64], tag string) string {
	if !sender || !counts(retr) {
		return noRetr + tag
	}
	return retrColumn(retr) + "             " + tag
}

func padLeft(s string, width int) string {
	if n := width - utf8.RuneCountInString(s); n > 0 {
		return fmt.Sprintf("%*s", n, "") + s
	}
	return s
}

func streamID(socket int) string { return fmt.Sprintf("[%3d]", socket) }

// plainAddr is an address as iperf3 prints it: an IPv4 address that arrived on an IPv6
// socket as IPv4, and no zone.
func plainAddr(a netip.Addr) string {
	if !a.IsValid() {
		return "–"
	}
	return a.Unmap().WithZone("").String()
}

func connectedLine(c engine.Conn) string {
	return fmt.Sprintf("%s local %s port %d connected to %s port %d", streamID(c.Socket),
		plainAddr(c.Local.Addr()), c.Local.Port(), plainAddr(c.Remote.Addr()), c.Remote.Port())
}

// startLine is the line of -V that sums up what was agreed. iperf3 3.18 says "bytes" of
// blocks too (-k 100: "100 bytes to send"); that is not copied.
func startLine(s engine.Spec) string {
	goal := fmt.Sprintf("%d second test", s.Duration/time.Second)
	switch {
	case s.Bytes > 0:
		goal = fmt.Sprintf("%d bytes to send", s.Bytes)
	case s.Blocks > 0:
		goal = fmt.Sprintf("%d blocks to send", s.Blocks)
	}
	return fmt.Sprintf("Starting Test: protocol: TCP, %d streams, %d byte blocks, omitting %d seconds, %s, tos %d",
		s.Streams, s.Block(), s.Omit/time.Second, goal, s.TOS)
}

// httpTime is the form of iperf3's "Time:".
func httpTime(t time.Time) string {
	return t.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT")
}
