package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/term"
)

var (
	// ErrAtOnce says that the operator left without waiting for the session's end.
	ErrAtOnce = errors.New("left at once")
	// ErrTerminalGone says that the terminal takes no more output: it was closed.
	ErrTerminalGone = errors.New("the terminal is gone")
	// ErrStalled says that the terminal took no output when the screen had to be left. It is
	// still in the state of the dashboard: whoever called Run must restore it.
	ErrStalled = errors.New("the terminal takes no output")
)

// stallTime is how long a blocked terminal may keep the screen after ctx has ended.
const stallTime = time.Second

// Run shows the dashboard until the session is over or ctx is done. It returns with the
// terminal restored, but for ErrStalled. Signals are cmd's: to end, cancel ctx or end the
// session.
func Run(ctx context.Context, src Source, ctl Control, opt Options) error {
	if opt.Output == nil {
		opt.Output = os.Stdout
	}
	if opt.IsTerminal == nil {
		opt.IsTerminal = func() bool { return term.IsTerminal(opt.Output.Fd()) }
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := newOutput(opt.Output, !opt.NoSync)
	m := New(src, ctl, opt)
	m.ctx, m.slow = ctx, out.isSlow

	// Not WithContext, and never Kill: a killed program closes its reader while it reads.
	// The end of ctx ends Next, and that quits.
	set := []tea.ProgramOption{tea.WithOutput(out), tea.WithFPS(frameRate), tea.WithAltScreen(), tea.WithoutSignalHandler()}
	if opt.Input != nil {
		set = append(set, tea.WithInput(opt.Input))
	}
	p := tea.NewProgram(m, set...)
	ended := make(chan error, 1)
	go func() {
		_, err := p.Run()
		ended <- err
	}()
	err := wait(ctx, out, ended, cancel)
	if errors.Is(err, ErrStalled) {
		return err // its goroutine hangs in a write; should that ever return, ctx ends it
	}
	cancel()
	m.calls.shut()
	return m.outcome(err)
}

// wait returns when the program has ended. A terminal that is gone ends it; one that is
// stuck cannot be waited for.
func wait(ctx context.Context, out *Output, ended <-chan error, cancel context.CancelFunc) error {
	var gone error
	select {
	case err := <-ended:
		return err
	case <-out.failed:
		gone = fmt.Errorf("%w: %v", ErrTerminalGone, out.cause())
		cancel()
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return errors.Join(gone, err)
	case <-time.After(stallTime):
		return errors.Join(ErrStalled, gone)
	}
}

// outcome is what Run returns: how the operator left, or what broke.
func (m *Model) outcome(err error) error {
	switch {
	case errors.Is(err, ErrTerminalGone):
		return ErrTerminalGone
	case errors.Is(err, tea.ErrProgramPanic):
		return err
	case m.forced:
		return ErrAtOnce
	case m.srcErr != nil && !errors.Is(m.srcErr, io.EOF) && !errors.Is(m.srcErr, context.Canceled) && !errors.Is(m.srcErr, context.DeadlineExceeded):
		return fmt.Errorf("reading the session: %w", m.srcErr)
	}
	return err
}
