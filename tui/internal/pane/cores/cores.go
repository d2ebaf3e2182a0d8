package cores

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/engine"
	"linerate/probes"
	"linerate/tui/internal/chart"
	"linerate/tui/internal/figure"
	"linerate/tui/internal/grid"
	"linerate/tui/internal/style"
)

// Full is the share from which a core has no room left: its row gets a "!".
const Full = 0.95

// Pane draws the cores. The zero value is ready; it belongs to one goroutine.
type Pane struct {
	order []int
	own   []string // by core: what of ours runs there
	trail [trailWidth]engine.Point
}

// host is one side as drawn.
type host struct {
	name    string
	load    *probes.Load
	missing string // why there are no cores
	local   bool
}

// Title names the pane.
func Title(s *engine.Snapshot) string {
	title := "CORES"
	if name, ok := s.Host.Name.Get(); ok {
		title += " " + name
	}
	if busy, ok := mean(&s.Load); ok {
		title += " " + figure.Percent(busy) + " %"
	}
	return title
}

func mean(l *probes.Load) (share float64, ok bool) {
	cores, ok := l.Cores.Get()
	if !ok || len(cores) == 0 {
		return 0, false
	}
	for i := range cores {
		share += cores[i].Busy()
	}
	return share / float64(len(cores)), true
}

// belowBars is what stands below the local bars: a blank row, the legend, the clock.
const belowBars = 3

// sideBySide is the least width of a pane that shows both hosts beside each other.
const sideBySide = 36

// Draw draws local and far cores into the area: below each other when there is room for
// all of both, else beside each other.
func (p *Pane) Draw(a grid.Area, s *engine.Snapshot) {
	local := host{name: "local", load: &s.Load, missing: s.Load.Cores.Why(), local: true}
	far, note := farHost(s)
	if far == nil {
		if a.H < 3 {
			p.side(a, &local, s)
			return
		}
		end := p.side(a.Sub(0, 0, a.W, a.H-1), &local, s)
		a.Fit(1, min(end, a.H-1), a.W-1, style.Dim, note)
		return
	}
	n, m := count(local.load), count(far.load)
	switch {
	case a.H >= n+m+3 || a.W < sideBySide:
		upper := min(a.H-m-1, n+belowBars+1)
		if a.H < n+m+3 {
			upper = a.H / 2
		}
		p.side(a.Sub(0, 0, a.W, upper), &local, s)
		p.captioned(a.Sub(0, upper, a.W, a.H-upper), far, s)
	default:
		half := (a.W - 1) / 2
		p.captioned(a.Sub(0, 0, half, a.H), &local, s)
		p.captioned(a.Sub(a.W-half, 0, half, a.H), far, s)
	}
}

// farStale is how old a sample of the far end may be to pass for its load: on a slow test
// they come seconds apart, and where nothing moves not at all.
const farStale = 10 * time.Second

// farHost gives the far side, or nil and why it is not there.
func farHost(s *engine.Snapshot) (*host, string) {
	switch {
	case s.Peer.Loopback:
		return nil, "far end: same host"
	case s.Peer.Load.Known() && s.Peer.LoadAge > farStale:
		return nil, "far cores: last told " + figure.Age(s.Peer.LoadAge)
	case s.Peer.Load.Known():
		name := "far"
		if facts, ok := s.Peer.HostInfo.Get(); ok && facts.Name.Known() {
			name = "far " + facts.Name.Value
		}
		if s.Peer.LoadAge > 0 {
			name += ", " + figure.Age(s.Peer.LoadAge)
		}
		return &host{name: name, load: &s.Peer.Load.Value, missing: s.Peer.Load.Value.Cores.Why()}, ""
	case !s.Peer.Addr.IsValid():
		return nil, "far cores unknown (not connected)"
	case !s.Peer.Linerate:
		return nil, "far cores unknown (stock iperf3)"
	}
	return nil, "far cores unknown (" + s.Peer.Load.Why() + ")"
}

func count(l *probes.Load) int { return len(l.Cores.Or(nil)) }

func (p *Pane) captioned(a grid.Area, h *host, s *engine.Snapshot) {
	title := h.name
	if busy, ok := mean(h.load); ok {
		title += "  " + figure.Percent(busy) + " %"
	}
	a.Fit(1, 0, a.W-1, style.Dim, title)
	p.side(a.Sub(0, 1, a.W, a.H-1), h, s)
}

// side draws one host's cores: a bar each, or heat and the busiest. It gives the row
// below.
func (p *Pane) side(a grid.Area, h *host, s *engine.Snapshot) int {
	cores, ok := h.load.Cores.Get()
	if !ok || len(cores) == 0 {
		why := h.missing
		if why == "" {
			why = "none seen"
		}
		a.Fit(1, 0, a.W-1, style.Dim, h.name+" cores unknown ("+why+")")
		return 1
	}
	p.threads(h, cores)
	if len(cores) <= a.H {
		for i := range cores {
			p.bar(a, i, &cores[i], past(h, s, i))
		}
		end := len(cores)
		if h.local && a.H >= end+2 {
			legend(a, end+1)
			end += 2
			if text := clock(s); text != "" && a.H > end {
				a.Fit(1, end, a.W-1, style.Dim, text)
				end++
			}
		}
		return end
	}
	y := p.heat(a, cores)
	p.order = p.order[:0]
	for i := range cores {
		p.order = append(p.order, i)
	}
	slices.SortStableFunc(p.order, func(i, j int) int { return cmp.Compare(cores[j].Busy(), cores[i].Busy()) })
	for _, i := range p.order {
		if y >= a.H {
			break
		}
		p.bar(a, y, &cores[i], past(h, s, i))
		y++
	}
	return y
}

// heat draws a cell per core and gives the row below, at least one row left.
func (p *Pane) heat(a grid.Area, cores []probes.CoreLoad) int {
	g := a.Glyphs()
	const left = 1
	room := a.W - left - 1
	if room < 1 {
		return 0
	}
	lines := (len(cores) + room - 1) / room
	if lines >= a.H {
		return 0
	}
	for i := range cores {
		busy := cores[i].Busy()
		role := style.User
		if busy >= Full {
			role = style.SoftIRQ
		}
		a.Put(left+i%room, i/room, g.Level(busy, 1), role)
	}
	return lines
}

// threads fills p.own with what of ours runs on each core.
func (p *Pane) threads(h *host, cores []probes.CoreLoad) {
	p.own = p.own[:0]
	if !h.local {
		return
	}
	most := 0
	for i := range cores {
		most = max(most, cores[i].Core)
	}
	if most > 1<<14 {
		return
	}
	for range most + 1 {
		p.own = append(p.own, "")
	}
	threads := h.load.Threads.Or(nil)
	for i := range threads {
		t := &threads[i]
		if t.Core < 0 || t.Core >= len(p.own) || t.Busy() < 0.01 {
			continue
		}
		name := strings.TrimPrefix(t.Name, probes.ThreadPrefix)
		switch was := p.own[t.Core]; {
		case was == "":
			p.own[t.Core] = name
		case len(was) < 16:
			p.own[t.Core] = was + " " + name
		}
	}
}

// past is the history of local core i; nil: there is none.
func past(h *host, s *engine.Snapshot, i int) *engine.Series {
	if !h.local || i >= len(s.History.Cores) {
		return nil
	}
	return &s.History.Cores[i]
}

// trailWidth is how many seconds of a core's past show where the pane is wide enough.
const trailWidth = 20

// bar draws one core: number, bar, percent, "!" when full, our threads, its last seconds.
func (p *Pane) bar(a grid.Area, y int, c *probes.CoreLoad, past *engine.Series) {
	const number, percent, sign = 4, 5, 1
	g := a.Glyphs()
	names, trail := 2, 0
	if a.W >= 48 {
		names = 12
	}
	if a.W >= 66 && past != nil {
		trail = trailWidth + 1
	}
	width := a.W - number - percent - sign - names - trail
	a.Right(number-1, y, style.Plain, strconv.Itoa(c.Core))
	if width >= 3 {
		parts(a, number, y, width, c)
	} else {
		width = 0
	}
	x := number + width + percent
	busy := c.Busy()
	role := style.Plain
	if busy >= Full {
		role = style.Limit
		a.Put(x, y, '!', role)
	}
	a.Right(x, y, role, figure.Percent(busy))
	if c.Core >= 0 && c.Core < len(p.own) && p.own[c.Core] != "" {
		end := a.Text(x+sign, y, style.Up, g.Own)
		if names > 2 {
			a.Fit(end, y, a.W-trail-end, style.Dim, p.own[c.Core])
		}
	}
	if trail > 0 {
		end := past.End()
		past.Columns(end-trailWidth*time.Second, end, p.trail[:])
		chart.Strip(a, a.W-trailWidth, y, p.trail[:], 1, style.User)
	}
}

// parts draws the bar itself. Borders are rounded on the running sum, so that the whole
// has the length of the busy share.
func parts(a grid.Area, x, y, width int, c *probes.CoreLoad) {
	g := a.Glyphs()
	sum, at := 0.0, 0
	for _, part := range [...]struct {
		share float64
		r     rune
		role  style.Role
	}{
		{c.User, g.User, style.User},
		{c.System, g.System, style.System},
		{c.IRQ, g.IRQ, style.IRQ},
		{c.SoftIRQ, g.SoftIRQ, style.SoftIRQ},
		{c.Steal, g.Steal, style.Steal},
		{1, g.Idle, style.Idle},
	} {
		if part.share > 0 {
			sum += part.share
		}
		end := min(width, int(min(sum, 1)*float64(width)+0.5))
		a.Fill(x+at, y, end-at, part.r, part.role)
		at = max(at, end)
	}
}

func legend(a grid.Area, y int) {
	g := a.Glyphs()
	x := 1
	for _, e := range [...]struct {
		r    rune
		role style.Role
		name string
	}{
		{g.User, style.User, "user"}, {g.System, style.System, "system"}, {g.IRQ, style.IRQ, "irq"},
		{g.SoftIRQ, style.SoftIRQ, "softirq"}, {g.Steal, style.Steal, "steal"},
	} {
		if x+a.Width(e.name)+2 > a.W {
			return
		}
		a.Put(x, y, e.r, e.role)
		x = a.Text(x+1, y, style.Dim, e.name) + 2
	}
	if x+14 <= a.W {
		x = a.Text(x, y, style.Up, g.Own)
		a.Text(x, y, style.Dim, "our threads")
	}
}

// clock is one line about the processor: frequency, governor, what our process uses.
func clock(s *engine.Snapshot) string {
	var parts []string
	cpu := &s.Host.CPU
	if f := cpu.FreqHz.Or(nil); len(f) > 0 {
		text := strconv.FormatFloat(slices.Max(f)/1e9, 'f', 1, 64) + " GHz"
		if cpu.MaxHz.Known() {
			text += " of " + strconv.FormatFloat(cpu.MaxHz.Value/1e9, 'f', 1, 64)
		}
		parts = append(parts, text)
	}
	if cpu.Governor.Known() {
		parts = append(parts, cpu.Governor.Value)
	}
	if p := s.Load.Process; p.Known() {
		parts = append(parts, "this process "+figure.Percent(p.Value.Busy())+" % of a core")
	}
	return strings.Join(parts, "  ")
}
