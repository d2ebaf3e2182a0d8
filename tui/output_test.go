package tui

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"linerate/tui/internal/tuitest"
)

// pipe gives an output on one end of a pipe, and what arrives at the other.
func pipe(t *testing.T, sync bool) (*Output, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return newOutput(w, sync), r
}

func TestOutputMarksFrames(t *testing.T) {
	frame, short := strings.Repeat("x", syncLeast+1), "\x1b[2K"
	for _, test := range []struct {
		sync bool
		want string
	}{
		{true, short + "\x1b[?2026h" + frame + "\x1b[?2026l"},
		{false, short + frame},
	} {
		o, r := pipe(t, test.sync)
		for _, s := range []string{short, frame} {
			if n, err := o.Write([]byte(s)); n != len(s) || err != nil {
				t.Errorf("Write gave %d, %v, want %d", n, err, len(s))
			}
		}
		got := make([]byte, len(test.want))
		if _, err := io.ReadFull(r, got); err != nil || string(got) != test.want {
			t.Errorf("sync %v: the terminal gets %q, want %q", test.sync, got, test.want)
		}
		if o.bytes != uint64(len(test.want)) {
			t.Errorf("counted %d bytes, want %d", o.bytes, len(test.want))
		}
	}
}

func TestOutputJudgesTheTerminal(t *testing.T) {
	o, r := pipe(t, false)
	go io.Copy(io.Discard, r)
	var now time.Time
	write := func(takes time.Duration) {
		o.clock = func() time.Time { now = now.Add(takes); return now }
		o.Write([]byte("x"))
	}
	write(150 * time.Millisecond)
	write(time.Millisecond)
	write(150 * time.Millisecond)
	if o.isSlow() {
		t.Error("single slow writes make the terminal slow")
	}
	write(150 * time.Millisecond)
	if !o.isSlow() {
		t.Error("two slow writes in a row do not")
	}
	for range quickWrites - 1 {
		write(time.Millisecond)
	}
	if !o.isSlow() {
		t.Error("it counts as quick too early")
	}
	write(time.Millisecond)
	if o.isSlow() {
		t.Error("it stays slow after quick writes")
	}
}

func TestOutputTellsThatTheTerminalIsGone(t *testing.T) {
	o, r := pipe(t, true)
	o.Close()
	r.Close()
	for range 2 {
		if _, err := o.Write([]byte("x")); err == nil {
			t.Fatal("a write to a closed terminal succeeds")
		}
	}
	select {
	case <-o.failed:
	default:
		t.Error("nobody is told")
	}
	if o.cause() == nil {
		t.Error("no cause")
	}
}

// Run ends the program and says why when the terminal goes away; bubbletea alone would
// draw on for ever.
func TestRunNoticesTheClosedTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in, stdin, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer stdin.Close()
	r.Close()
	src := newTape(tuitest.Upload())
	defer src.close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	err = Run(ctx, src, &recorder{}, Options{Output: w, Input: in, Color: "never", Glyphs: "block"})
	if !errors.Is(err, ErrTerminalGone) {
		t.Errorf("Run = %v, want ErrTerminalGone", err)
	}
}

func TestRunEndsWithTheSession(t *testing.T) {
	for name, end := range map[string]func(src *tape, cancel func()){
		"the source is over":    func(src *tape, _ func()) { src.close() },
		"the context is done":   func(_ *tape, cancel func()) { cancel() },
		"both at the same time": func(src *tape, cancel func()) { cancel(); src.close() },
	} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			in, stdin, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			defer stdin.Close()
			drawn := make(chan struct{})
			go func() {
				buf := make([]byte, 1<<16)
				for n, once := 0, false; ; {
					var err error
					if n, err = r.Read(buf); err != nil {
						return
					}
					if !once && n > 0 {
						once = true
						close(drawn)
					}
				}
			}()
			src := newTape(tuitest.Upload())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- Run(ctx, src, &recorder{}, Options{Output: w, Input: in}) }()
			<-drawn
			end(src, cancel)
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("Run = %v, want nil", err)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("Run does not return")
			}
		})
	}
}

// A terminal that takes nothing must not keep the program: cmd restores it then.
func TestRunLeavesAStalledTerminal(t *testing.T) {
	r, w, err := os.Pipe() // nobody reads: writes block when the pipe is full
	if err != nil {
		t.Fatal(err)
	}
	// Never closed: the goroutine that hangs in its write still holds it.
	in, _, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fill(t, w)
	src := newTape(tuitest.Upload())
	defer src.close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Run(ctx, src, &recorder{}, Options{Output: w, Input: in}); !errors.Is(err, ErrStalled) {
		t.Errorf("Run = %v, want ErrStalled", err)
	}
	go io.Copy(io.Discard, r) // let the stuck goroutine go
}

// fill writes into a pipe until it takes no more.
func fill(t *testing.T, w *os.File) {
	t.Helper()
	if err := w.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Skipf("no deadlines on pipes here: %v", err)
	}
	for buf := make([]byte, 1<<12); ; {
		if _, err := w.Write(buf); err != nil {
			break
		}
	}
	w.SetWriteDeadline(time.Time{})
}
