package head

import (
	"net"
	"strconv"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/tui/internal/figure"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/style"
)

// Ask is a change the operator has asked for and no server has confirmed yet.
type Ask struct {
	Streams int // 0: not changed
	Dir     engine.Direction
	Turn    bool // Dir is asked for
}

// Options is what the header shows beside the snapshot.
type Options struct {
	Ask    Ask
	Frozen bool
	Pace   string // "4 Hz", "1 Hz: slow link"
	Slowed bool   // Pace says why the screen is slow: it must be seen
	Units  unit.System
}

// Header draws the first line.
func Header(a grid.Area, s *engine.Snapshot, o Options) {
	left := []grid.Part{
		{Text: " " + target(s), Role: style.Bold},
		{Text: traffic(a, s, o.Units), Role: tone(s.Spec.Direction)},
		{Text: ask(a, s, o.Ask), Role: style.Notice},
		{Text: search(a, s), Role: style.Notice, Drop: 5},
		{Text: algorithm(s), Role: style.Dim, Drop: 6},
		{Text: s.Label, Role: style.Notice},
		{Text: sshNotice(s, a.W), Role: style.Notice},
		{Text: s.Peer.Agent, Role: style.Dim, Drop: 9},
	}
	state, stateRole := phase(a, s, o.Frozen)
	step := ""
	if seg := s.Segment(); seg != nil {
		step = "step " + strconv.Itoa(seg.Index)
	}
	paceDrop := 8
	if o.Slowed {
		paceDrop = 2
	}
	used := ""
	if s.Moved > 0 {
		used = figure.Bytes(s.Moved, o.Units) + " used"
	}
	right := []grid.Part{
		{Text: state, Role: stateRole},
		{Text: unit.Clock(max(0, s.Elapsed)), Role: style.Bold},
		{Text: step, Role: style.Plain, Drop: 3},
		{Text: used, Role: style.Plain, Drop: 4},
		{Text: o.Pace, Role: style.Dim, Drop: paceDrop},
		{Text: o.Units.String() + " ", Role: style.Dim, Drop: 7},
	}
	a.Compose(0, 2, left, right)
}

func target(s *engine.Snapshot) string {
	host := s.Peer.Host
	if host == "" {
		host = s.Spec.Host
	}
	if host == "" && s.Peer.Addr.IsValid() {
		host = s.Peer.Addr.Addr().String()
	}
	port := s.Spec.Port
	if s.Peer.Addr.IsValid() {
		port = int(s.Peer.Addr.Port())
	}
	if port == 0 {
		return host
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}

func traffic(a grid.Area, s *engine.Snapshot, u unit.System) string {
	g := a.Glyphs()
	text := figure.Arrow(s.Spec.Direction, g.Up, g.Down, g.Both) + " TCP " + g.Times + strconv.Itoa(s.Spec.Streams)
	if s.Spec.Bitrate > 0 {
		text += " at " + figure.Rate(s.Spec.Bitrate, u) + " each"
	}
	return text
}

// tone is the look of a direction; its arrow says the same without colour.
func tone(d engine.Direction) style.Role {
	switch d {
	case engine.Upload:
		return style.Up
	case engine.Download:
		return style.Down
	}
	return style.Bold
}

// ask is the echo of a key: what the session has taken over, or what the screen still
// waits for.
func ask(a grid.Area, s *engine.Snapshot, asked Ask) string {
	g := a.Glyphs()
	if s.Asked != nil {
		if asked.Streams == 0 && s.Asked.Streams != s.Spec.Streams {
			asked.Streams = s.Asked.Streams
		}
		if !asked.Turn && s.Asked.Direction != s.Spec.Direction {
			asked.Dir, asked.Turn = s.Asked.Direction, true
		}
	}
	text := ""
	if asked.Turn {
		text += " " + figure.Arrow(asked.Dir, g.Up, g.Down, g.Both)
	}
	if asked.Streams != 0 {
		text += " " + g.Times + strconv.Itoa(asked.Streams)
	}
	if text == "" {
		return ""
	}
	return "asked" + text
}

// search tells that the stream count is being changed by the program; the status line
// says it too.
func search(a grid.Area, s *engine.Snapshot) string {
	switch {
	case s.Best.Active && s.Best.Trying > 0:
		return "finding best: trying " + a.Glyphs().Times + strconv.Itoa(s.Best.Trying)
	case s.Best.Active:
		return "finding best"
	}
	return ""
}

func algorithm(s *engine.Snapshot) string {
	if s.Spec.Congestion != "" {
		return s.Spec.Congestion
	}
	for i := len(s.Segments) - 1; i >= 0; i-- {
		if r := s.Segments[i].Results; r != nil && r.LocalCongestion != "" {
			return r.LocalCongestion
		}
	}
	return ""
}

func sshNotice(s *engine.Snapshot, width int) string {
	switch {
	case !s.SSHLink:
		return ""
	case width < 100:
		return "over your SSH link"
	}
	return "test runs over your SSH link"
}

func phase(a grid.Area, s *engine.Snapshot, frozen bool) (string, style.Role) {
	g := a.Glyphs()
	if frozen {
		if a.W < 100 {
			return g.Frozen + " FROZEN", style.Notice
		}
		return g.Frozen + " FROZEN (data goes on)", style.Notice
	}
	switch s.Phase {
	case engine.Running:
		return g.Run + " RUN", style.OK
	case engine.Changing:
		return "CHANGING", style.Limit
	case engine.Stopped:
		return "STOPPED", style.Notice
	case engine.Ending:
		return "ENDING", style.Limit
	case engine.Done:
		if s.Err != nil {
			return "FAILED", style.Fault
		}
		return "DONE", style.Notice
	}
	return "CONNECTING", style.Limit
}

// Tiny draws the one line that stands for header and SUM on the smallest screens.
func Tiny(a grid.Area, s *engine.Snapshot, o Options) {
	g := a.Glyphs()
	var left []grid.Part
	for i := range s.Sums {
		sum := &s.Sums[i]
		left = append(left, grid.Part{
			Text: figure.Arrow(sum.Dir, g.Up, g.Down, "") + " " + figure.Rate(sum.Rate, o.Units), Role: tone(sum.Dir)})
	}
	if len(left) == 0 || s.Phase != engine.Running || o.Frozen {
		text, r := phase(a, s, o.Frozen)
		left = append(left, grid.Part{Text: text, Role: r, Drop: min(1, len(left))})
	}
	retr := ""
	if len(s.Sums) == 1 && s.Sums[0].RetransRate.Known() {
		retr = "retr " + figure.PerSecond(s.Sums[0].RetransRate) + "/s"
	}
	step := ""
	if seg := s.Segment(); seg != nil {
		step = "step " + strconv.Itoa(seg.Index)
	}
	slow := ""
	if o.Slowed {
		slow = o.Pace
	}
	left = append(left,
		grid.Part{Text: g.Times + strconv.Itoa(s.Spec.Streams), Role: style.Plain, Drop: 2},
		grid.Part{Text: ask(a, s, o.Ask), Role: style.Notice, Drop: 1},
		grid.Part{Text: s.Label, Role: style.Notice},
		grid.Part{Text: sshNotice(s, a.W), Role: style.Notice, Drop: 3},
		grid.Part{Text: slow, Role: style.Dim, Drop: 4},
		grid.Part{Text: retr, Role: style.Plain, Drop: 5},
		grid.Part{Text: step, Role: style.Dim, Drop: 6},
		grid.Part{Text: unit.Clock(max(0, s.Elapsed)), Role: style.Dim, Drop: 7},
	)
	a.Compose(0, 2, left, nil)
}
