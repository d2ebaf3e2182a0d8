package tui

import (
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/tui/internal/pane/streams"
)

// view is a text view in place of the panes.
type view uint8

const (
	noView view = iota
	helpView
	whyView
	compareView
)

// spans are the time axes that < and > walk through.
var spans = [...]time.Duration{
	30 * time.Second, time.Minute, 2 * time.Minute, 3 * time.Minute, 5 * time.Minute, 10 * time.Minute,
	30 * time.Minute, 2 * time.Hour, 6 * time.Hour, 24 * time.Hour,
}

// longestAuto is the last span that the axis grows to by itself.
const longestAuto = 5

// Model is the dashboard as a tea.Model. It belongs to the program's goroutine.
type Model struct {
	src Source
	ctl Control
	opt Options

	ctx   context.Context // of every Next and Do
	calls gate            // which go through here
	later func(time.Duration, func(time.Time) tea.Msg) tea.Cmd
	slow  func() bool // whether the terminal takes its bytes slowly; nil: nobody knows

	snap   *engine.Snapshot // the newest; nil before the first
	held   *engine.Snapshot // shown instead while frozen
	came   time.Time        // when snap came
	bestAt time.Duration    // session time at which snap.Best became what it is
	thin   bool             // the SUM is so low that the screen's own bytes would matter
	over   bool             // no more snapshots will come
	srcErr error            // why
	paused bool             // traffic was stopped for Ctrl-Z
	forced bool             // left without waiting for the session

	keys     keyMap
	ask      asking
	talk     talking
	quitting bool

	// What the operator has chosen to see.
	view   view
	scroll int
	zoom   bool
	focus  paneID
	cursor int
	sort   streams.Sort
	units  unit.System
	log    bool
	span   int // index into spans; -1: grows with the session

	screen screen
}

// New makes a dashboard. ctl may be nil.
func New(src Source, ctl Control, opt Options) *Model {
	m := &Model{
		src: src, ctl: ctl, opt: opt, ctx: context.Background(), later: tea.Tick,
		keys: newKeyMap(), units: opt.Units, span: -1,
	}
	if m.opt.Refresh <= 0 {
		m.opt.Refresh = DefaultRefresh
	}
	m.screen.pal, m.screen.glyphs = opt.look(opt.IsTerminal != nil && opt.IsTerminal())
	m.screen.empty = &engine.Snapshot{Spec: opt.Spec, Peer: engine.Peer{Host: opt.Spec.Host}}
	m.keys.enable(m)
	return m
}

// snapshotMsg is what Next gave.
type snapshotMsg struct {
	snap *engine.Snapshot
	err  error
}

// leaveMsg ends the program when the session has not ended in time after Quit.
type leaveMsg struct{}

// leaveTime is longer than the session takes to end at worst.
const leaveTime = 5 * time.Second

// Init starts waiting for the first snapshot.
func (m *Model) Init() tea.Cmd { return m.fetch() }

// pace is the least time between two snapshots, and why it is long.
func (m *Model) pace() (every time.Duration, why string) {
	switch {
	case m.slow != nil && m.slow():
		return slowRefresh, "slow terminal"
	case m.opt.SSH && m.thin:
		return slowRefresh, "slow link"
	}
	return m.opt.Refresh, ""
}

// fetch waits for the next snapshot, not sooner than the pace allows. There is never
// more than one.
func (m *Model) fetch() tea.Cmd {
	every, _ := m.pace()
	var wait time.Duration
	if !m.came.IsZero() {
		wait = every - time.Since(m.came)
	}
	ctx, src := m.ctx, m.src
	return func() tea.Msg {
		if !m.calls.enter() {
			return nil
		}
		defer m.calls.leave()
		if wait > 0 {
			timer := time.NewTimer(wait)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-ctx.Done():
				return snapshotMsg{nil, ctx.Err()}
			}
		}
		snap, err := src.Next(ctx)
		return snapshotMsg{snap, err}
	}
}

// Update takes a message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case snapshotMsg:
		return m, m.take(msg)
	case tea.WindowSizeMsg:
		m.screen.w, m.screen.h = msg.Width, msg.Height
		m.keys.enable(m) // the footer says more on a wide screen
		return m, nil
	case tea.KeyMsg:
		cmd = m.key(msg)
	case doneMsg:
		cmd = m.done(msg)
	case digitMsg:
		if msg.timer == m.ask.timer && m.ask.digits > 0 {
			cmd = m.number()
		}
	case silenceMsg:
		if msg.serial != m.talk.serial {
			return m, nil
		}
		m.talk.text = ""
	case exportMsg:
		cmd = m.exported(msg)
	case tea.ResumeMsg:
		cmd = m.resume()
	case leaveMsg:
		return m, tea.Quit
	default:
		return m, nil
	}
	m.touch()
	return m, cmd
}

// touch makes the next View draw anew.
func (m *Model) touch() {
	m.screen.ui++
	m.keys.enable(m)
}

// take shows a snapshot and waits for the next one.
func (m *Model) take(msg snapshotMsg) tea.Cmd {
	m.came = time.Now()
	if msg.err != nil || msg.snap == nil {
		m.over, m.srcErr = true, msg.err
		return tea.Quit
	}
	s := msg.snap
	if m.snap != nil && s.Seq == m.snap.Seq {
		return m.fetch()
	}
	told := m.tellProof(m.snap, s)
	if m.snap == nil || m.snap.Best != s.Best {
		m.bestAt = s.Elapsed
	}
	m.snap = s
	m.thin = m.isThin(s)
	m.settle(s)
	m.keys.enable(m)
	return tea.Batch(m.fetch(), told)
}

// isThin compares the SUM with SlowLink, with some distance to where it was.
func (m *Model) isThin(s *engine.Snapshot) bool {
	if s.Phase != engine.Running || len(s.Sums) == 0 {
		return m.thin
	}
	sum := 0.0
	for i := range s.Sums {
		sum += s.Sums[i].Rate
	}
	if m.thin {
		return sum < SlowLink*1.25
	}
	return sum < SlowLink
}

// shown is the snapshot on screen.
func (m *Model) shown() *engine.Snapshot {
	switch {
	case m.held != nil:
		return m.held
	case m.snap != nil:
		return m.snap
	}
	return m.screen.empty
}

var _ tea.Model = (*Model)(nil)
