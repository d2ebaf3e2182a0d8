package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"linerate/cmd/linerate/internal/guard"
	"linerate/engine"
	"linerate/engine/report"
	"linerate/engine/session"
	"linerate/probes/host"
	"linerate/tui"
)

const (
	// settle is left out of the averages after every change unless -O says otherwise: TCP
	// needs about so long to find its rate.
	settle = 2 * time.Second
	// runLasts is how long a test lasts where nobody watches and -t is not given.
	runLasts = 10 * time.Second
	// connectGrace is how long the screen waits for the first connection, so that a refused
	// one is an error line and not a flash.
	connectGrace = 500 * time.Millisecond
	// screenLimit is how long the screen may take to see that the session is over; one whose
	// terminal takes no output never does.
	screenLimit = time.Second
)

// client is linerate HOST.
func (a *app) client(cmd *cobra.Command, o *options, args []string) error {
	to, err := oneTarget(args)
	if err != nil {
		return err
	}
	return a.watch(cmd, o, to, session.Config{ExpectBps: o.expect})
}

// watch runs a test under the dashboard, or prints it where there is no terminal.
func (a *app) watch(cmd *cobra.Command, o *options, to target, cfg session.Config) error {
	tty, why := terminal(a.in, a.out)
	defer tty.close()
	if o.output.plain {
		tty, why = nil, ""
	}
	lasts := time.Duration(0)
	if tty == nil {
		lasts = runLasts
	}
	var err error
	if cfg.Spec, err = o.test(to, lasts, cmd.Flags().Changed); err != nil {
		return err
	}
	if tty != nil {
		if !cmd.Flags().Changed("omit") {
			cfg.Settle = settle
		}
		return a.dashboard(cmd.Context(), tty, o, cfg)
	}
	if why != "" {
		fmt.Fprintf(a.err, "linerate: note: %s: printing as `linerate run` does\n", why)
	}
	if cfg.LinkBps > 0 {
		fmt.Fprintf(a.err, "linerate: note: %s\n", cfg.Label)
	}
	if cfg.Auto {
		return a.printSearch(cmd.Context(), o, cfg)
	}
	return a.print(cmd.Context(), o, cfg)
}

// oneTarget reads the only argument of a test.
func oneTarget(args []string) (target, error) {
	switch {
	case len(args) == 0:
		return target{}, usage("no host given", "try: linerate 192.0.2.7, or linerate demo to see it work on this computer")
	case len(args) > 1:
		return target{}, usage("unexpected "+quote(args[1])+" after the host", "one test has one host")
	}
	return parseTarget(args[0])
}

// dashboard runs a session with the screen on it, and leaves the summary on the normal
// screen and in last.txt.
func (a *app) dashboard(ctx context.Context, tty *console, o *options, cfg session.Config) error {
	if err := placeFor(o.evidence.save); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	source := host.New()
	defer source.Close()
	cfg.Host, cfg.Evidence, cfg.Path = source, source, source
	cfg.Agent, cfg.Hold = agent(), true
	cfg.SSHClient = sshClient(os.Getenv("SSH_CONNECTION"))
	s := session.New(cfg)
	stop := listen(ctx, func(ctx context.Context) { s.Do(ctx, engine.Quit{}) }, cancel)
	var summary engine.Summary
	over := make(chan struct{})
	go func() {
		defer close(over)
		summary = s.Run(ctx)
	}()
	var screen shown
	if connected(s, over) {
		screen = show(ctx, cancel, s, over, o.screen.options(cfg.Spec, tty))
	}
	<-over
	stop.release()
	saved := a.saveLast(o, s)
	if err := a.afterwards(summary, screen, stop); err != nil {
		return err
	}
	return saved
}

// options are the screen's, from the flags and the environment.
func (c screen) options(spec engine.Spec, tty *console) tui.Options {
	return tui.Options{
		Output: tty.screen, Input: tty.keys,
		Color: c.color, Glyphs: c.glyphs, Theme: c.theme, Refresh: c.refresh, NoSync: c.noSync,
		SSH: os.Getenv("SSH_CONNECTION") != "", Spec: spec, Export: export,
	}
}

// connected waits for the first connection, but no longer than connectGrace; false when
// the session has failed meanwhile.
func connected(s *session.Session, over <-chan struct{}) bool {
	ctx, cancel := context.WithTimeout(context.Background(), connectGrace)
	defer cancel()
	for {
		snap, err := s.Next(ctx)
		if err != nil {
			break
		}
		if snap.Phase != engine.Connecting {
			break
		}
	}
	select {
	case <-over:
		return false
	default:
		return true
	}
}

// shown is how the screen ended.
type shown struct {
	err    error
	atOnce bool // a second q
	mute   bool // the terminal is gone or takes no output: nothing can be printed
}

// show draws until the session is over or the screen cannot go on, and then ends the
// session too: regularly, or by end when the operator does not want to wait.
func show(ctx context.Context, end context.CancelFunc, s *session.Session, over <-chan struct{}, opt tui.Options) shown {
	before, err := term.GetState(opt.Output.Fd())
	if err != nil {
		end()
		return shown{err: fmt.Errorf("reading the terminal's settings: %w", err)}
	}
	// Without a watcher a crash may leave the terminal as it is: no reason not to measure.
	watcher, _ := guard.Start(opt.Output, guard.Screen, stateDir())
	err = draw(ctx, s, over, opt)
	switch {
	case errors.Is(err, tui.ErrStalled):
		term.Restore(opt.Output.Fd(), before)
		watcher.Restore()
	default:
		watcher.Stop()
	}
	atOnce := errors.Is(err, tui.ErrAtOnce)
	if atOnce {
		end()
	} else {
		s.Do(ctx, engine.Quit{})
	}
	mute := errors.Is(err, tui.ErrStalled) || errors.Is(err, tui.ErrTerminalGone)
	if atOnce || mute {
		err = nil
	}
	return shown{err: err, atOnce: atOnce, mute: mute}
}

// draw runs the screen. Once the session is over it has screenLimit to see that by
// itself.
func draw(ctx context.Context, s *session.Session, over <-chan struct{}, opt tui.Options) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	drawn := make(chan error, 1)
	go func() { drawn <- tui.Run(ctx, s, s, opt) }()
	select {
	case err := <-drawn:
		return err
	case <-over:
	}
	select {
	case err := <-drawn:
		return err
	case <-time.After(screenLimit):
		leave()
		return <-drawn // Run gives up on a stalled terminal by itself
	}
}

// afterwards keeps and prints the summary and says how it went.
func (a *app) afterwards(summary engine.Summary, screen shown, stop *stopper) error {
	var kept error
	if summary.Last != nil && len(summary.Last.Segments) > 0 {
		var text bytes.Buffer
		report.Summary(&text, summary, report.SummaryWidth)
		_, kept = keep(text.Bytes())
		if !screen.mute && !stop.hungUp {
			report.Summary(a.out, summary, columns(a.out))
		}
	}
	switch {
	case stop.hard || screen.atOnce:
		return &problem{code: exitInterrupted}
	case summary.Err != nil:
		return testProblem(summary.Err)
	case screen.err != nil:
		return failure(fmt.Errorf("the screen ended early: %w", screen.err), "try --plain")
	case kept != nil:
		fmt.Fprintf(a.err, "linerate: note: %v\n", kept)
	}
	return nil
}

// sshClient is the other end of the SSH session that started the program, from
// SSH_CONNECTION; invalid without one.
func sshClient(connection string) netip.Addr {
	from, _, _ := strings.Cut(connection, " ")
	addr, _ := netip.ParseAddr(from)
	return addr
}

// columns is how wide the terminal is that w writes to, or all a summary can use.
func columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(f.Fd()); err == nil {
			return width
		}
	}
	return report.SummaryWidth
}
