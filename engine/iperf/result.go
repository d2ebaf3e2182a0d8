package iperf

import (
	"bytes"
	"encoding/json"
	"fmt"

	"linerate/engine"
	"linerate/engine/internal/wire"
	"linerate/probes"
)

// localResult is what this end knows; the peer's part is unknown for the given reason.
func localResult(t *traffic, acc account, why string) engine.Result {
	r := engine.Result{
		Info: t.info, Elapsed: acc.elapsed, LocalCPU: acc.cpu,
		RemoteCPU: probes.Unknown[engine.CPUUse](probes.Absent, why), LocalCongestion: t.congestion,
	}
	for i, f := range t.flows {
		own := probes.Got(engine.End{Bytes: acc.streams[i].bytes, Seconds: acc.elapsed.Seconds()})
		far := probes.Unknown[engine.End](probes.Absent, why)
		s := engine.StreamResult{
			Conn: f.Conn, TCP: acc.streams[i].extremes, Reordering: acc.streams[i].reordering,
			Sent: own, Received: far, Retransmits: acc.streams[i].retrans,
		}
		if !f.Sender {
			s.Sent, s.Received = far, own
			s.Retransmits = probes.Unknown[uint64](probes.Absent, why)
		}
		r.Streams = append(r.Streams, s)
	}
	return r
}

// merge adds the other end's account to a local result.
func merge(r *engine.Result, far wire.Results) error {
	r.RemoteCPU = probes.Got(engine.CPUUse{Total: far.CPUTotal, User: far.CPUUser, System: far.CPUSystem})
	r.RemoteCongestion = far.Congestion
	r.PeerOutput, r.PeerOutputJSON = far.OutputText, false
	if len(far.OutputJSON) > 0 {
		r.PeerOutput, r.PeerOutputJSON = indented(far.OutputJSON), true
	}
	byID := make(map[int]int, len(r.Streams))
	for i, s := range r.Streams {
		byID[s.ID] = i
	}
	for _, theirs := range far.Streams {
		i, ok := byID[theirs.ID]
		if !ok {
			return fmt.Errorf("results of a stream %d that does not exist", theirs.ID)
		}
		end := engine.End{Bytes: theirs.Bytes, Seconds: theirs.EndTime - theirs.StartTime}
		if !theirs.Timed || end.Seconds == 0 {
			end.Seconds = r.Elapsed.Seconds() // versions before 3.2 do not tell
		}
		s := &r.Streams[i]
		if s.Sender {
			s.Received = probes.Got(end)
			continue
		}
		s.Sent = probes.Got(end)
		if far.Retransmits == wire.Counted && theirs.Retransmits >= 0 {
			s.Retransmits = probes.Got(uint64(theirs.Retransmits))
		} else {
			s.Retransmits = probes.Unknown[uint64](probes.Unsupported, "the sending end does not count them")
		}
	}
	return nil
}

// indented lays out a foreign JSON document for reading, without control characters.
func indented(doc json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, doc, "", "  ") != nil {
		return ""
	}
	return wire.CleanText(b.String(), wire.MaxServerResults)
}

// printed is what a server has printed about one test; text is empty when its client
// did not ask.
type printed struct {
	text string
	json bool // text is a JSON document
}

// report is this end's account as it travels.
func report(r engine.Result, output printed) wire.Results {
	out := wire.Results{
		CPUTotal: r.LocalCPU.Total, CPUUser: r.LocalCPU.User, CPUSystem: r.LocalCPU.System,
		Retransmits: wire.OnlyReceives,
		Congestion:  r.LocalCongestion,
	}
	if output.json {
		out.OutputJSON = json.RawMessage(output.text)
	} else {
		out.OutputText = output.text
	}
	for _, s := range r.Streams {
		own := s.Received.Value
		retransmits := int64(-1)
		if s.Sender {
			own = s.Sent.Value
			out.Retransmits = max(out.Retransmits, wire.NotCounted)
			if n, ok := s.Retransmits.Get(); ok {
				retransmits = int64(n)
				out.Retransmits = wire.Counted
			}
		}
		out.Streams = append(out.Streams, wire.StreamResults{
			ID: s.ID, Bytes: own.Bytes, Retransmits: retransmits,
			Timed: true, EndTime: own.Seconds, Omitted: true,
		})
	}
	return out
}
