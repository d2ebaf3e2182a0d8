package tui

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"linerate/engine"
	"linerate/probes"
	"linerate/tui/internal/style"
)

// exportFormat grows with every incompatible change of exported.
const exportFormat = 1

// exported is the JSON that x writes: the numbers on screen, in base units. What is
// unknown is null.
type exported struct {
	Format   int              `json:"format"`
	At       time.Time        `json:"at"`
	Elapsed  float64          `json:"elapsed_seconds"`
	Host     string           `json:"host"`
	Peer     string           `json:"peer"`
	Agent    string           `json:"peer_agent"`
	Label    string           `json:"label,omitempty"`
	Phase    string           `json:"phase"`
	Moved    uint64           `json:"moved_bytes"`
	Sums     []exportedSum    `json:"sums"`
	Streams  []exportedStream `json:"streams"`
	Cores    []exportedCore   `json:"cores"`
	Steps    []exportedStep   `json:"steps"`
	Verdicts []engine.Verdict `json:"verdicts"`
	Events   []engine.Event   `json:"events"`
}

type exportedSum struct {
	Direction   string   `json:"direction"`
	Rate        *float64 `json:"bits_per_second"`
	Mean        *float64 `json:"step_mean_bits_per_second"`
	Retransmits *uint64  `json:"retransmits"`
	Fairness    *float64 `json:"fairness"`
	Ceiling     *float64 `json:"possible_bits_per_second"`
	Delta       *float64 `json:"change_to_step_before"`
}

type exportedStream struct {
	ID          int      `json:"id"`
	Direction   string   `json:"direction"`
	Rate        *float64 `json:"bits_per_second"`
	Bytes       uint64   `json:"bytes"`
	Retransmits *uint64  `json:"retransmits"`
	Cwnd        *uint64  `json:"cwnd_bytes"`
	RTT         *float64 `json:"rtt_seconds"`
	Core        *int     `json:"core"`
}

type exportedCore struct {
	Side string `json:"side"`
	probes.CoreLoad
}

type exportedStep struct {
	Index   int           `json:"index"`
	Change  string        `json:"change"`
	Streams int           `json:"streams"`
	Dir     string        `json:"direction"`
	Start   float64       `json:"start_seconds"`
	End     float64       `json:"end_seconds"` // 0 while it runs
	Gap     float64       `json:"gap_seconds"`
	Sums    []exportedSum `json:"sums"`
	Verdict string        `json:"verdict"`
	Error   string        `json:"error,omitempty"`
}

// exportMsg tells where an export went.
type exportMsg struct {
	path string
	err  error
}

// export writes what is on screen, without colour, and its numbers.
func (m *Model) export() tea.Cmd {
	s, write := m.shown(), m.opt.Export
	m.compose(s)
	text := string(m.screen.grid.AppendTo(nil, style.NewPalette(style.Bare, style.Dark))) + "\n"
	return func() tea.Msg {
		data, err := json.MarshalIndent(document(s), "", "  ")
		if err != nil {
			return exportMsg{err: fmt.Errorf("encoding the snapshot: %w", err)}
		}
		path, err := write(text, append(data, '\n'))
		return exportMsg{path, err}
	}
}

func (m *Model) exported(msg exportMsg) tea.Cmd {
	if msg.err != nil {
		return m.say("not exported: " + msg.err.Error())
	}
	return m.say("exported to " + msg.path)
}

func document(s *engine.Snapshot) exported {
	d := exported{
		Format: exportFormat, At: s.At, Elapsed: s.Elapsed.Seconds(),
		Host: s.Host.Name.Or(""), Peer: s.Peer.Host, Agent: s.Peer.Agent, Label: s.Label,
		Phase: s.Phase.String(), Moved: s.Moved, Sums: exportSums(s.Sums), Events: s.Events,
		Verdicts: finite(s.Verdicts),
	}
	if s.Peer.Addr.IsValid() {
		d.Peer = s.Peer.Addr.String()
	}
	for i := range s.Streams {
		st := &s.Streams[i]
		e := exportedStream{ID: st.Number(), Direction: st.Dir.String(), Rate: number(st.Rate), Bytes: st.Bytes,
			Retransmits: known(st.Retransmits), Cwnd: known(st.Cwnd)}
		if rtt, ok := st.RTT.Get(); ok {
			e.RTT = number(rtt.Seconds())
		}
		if t, ok := st.Thread.Get(); ok {
			e.Core = &t.Core
		}
		d.Streams = append(d.Streams, e)
	}
	d.Cores = append(exportCores("local", s.Load), exportCores("far", s.Peer.Load.Or(noLoad))...)
	for i := range s.Segments {
		seg := &s.Segments[i]
		d.Steps = append(d.Steps, exportedStep{
			Index: seg.Index, Change: seg.Change, Streams: seg.Spec.Streams, Dir: seg.Spec.Direction.String(),
			Start: seg.Start.Seconds(), End: seg.End.Seconds(), Gap: seg.Gap.Seconds(),
			Sums: exportSums(seg.Sums), Verdict: seg.Verdict, Error: seg.Err,
		})
	}
	return d
}

func exportSums(sums []engine.Sum) (out []exportedSum) {
	for i := range sums {
		s := &sums[i]
		e := exportedSum{Direction: s.Dir.String(), Rate: number(s.Rate), Mean: number(s.Mean),
			Retransmits: known(s.Retransmits), Ceiling: known(s.Ceiling), Delta: known(s.Delta)}
		if s.Fairness > 0 {
			e.Fairness = number(s.Fairness)
		}
		out = append(out, e)
	}
	return out
}

func exportCores(side string, l probes.Load) (out []exportedCore) {
	for _, c := range l.Cores.Or(nil) {
		if number(c.Busy()) == nil || number(c.Idle) == nil {
			continue
		}
		out = append(out, exportedCore{side, c})
	}
	return out
}

// finite leaves out evidence that JSON cannot write.
func finite(verdicts []engine.Verdict) []engine.Verdict {
	clean := func(f engine.Finding) engine.Finding {
		var keep []engine.Evidence
		for _, e := range f.Evidence {
			if number(e.Value) != nil {
				keep = append(keep, e)
			}
		}
		f.Evidence = keep
		return f
	}
	out := make([]engine.Verdict, 0, len(verdicts))
	for _, v := range verdicts {
		v.Main = clean(v.Main)
		also := make([]engine.Finding, 0, len(v.Also))
		for _, f := range v.Also {
			also = append(also, clean(f))
		}
		v.Also = also
		out = append(out, v)
	}
	return out
}

// number is v, or nothing when JSON has no way to write it.
func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func known[T any](r probes.Reading[T]) *T {
	if v, ok := r.Get(); ok {
		if f, is := any(v).(float64); is && number(f) == nil {
			return nil
		}
		return &v
	}
	return nil
}
