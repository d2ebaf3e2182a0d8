package tui

import (
	"os"
	"runtime"
	"time"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/tui/internal/style"
)

// Options are the operator's and cmd's choices. The zero value is right for a terminal.
type Options struct {
	Color  string // auto, never, 16, 256, true; "" is auto
	Glyphs string // auto, braille, block, ascii; "" is auto
	Theme  string // auto, dark, light, mono; "" is auto
	Units  unit.System

	// Refresh is the least time between two frames with new data; 0: DefaultRefresh.
	Refresh time.Duration

	// SSH says that the terminal is reached over SSH. Below SlowLink the screen then goes
	// to 1 Hz, because its own bytes would be part of what is measured.
	SSH bool

	// Spec is what was asked for, shown until the first snapshot comes.
	Spec engine.Spec

	// Export stores what x exports, the screen as text and the numbers as JSON, and gives
	// the path for the status line. Nil: there is no such key.
	Export func(screen string, data []byte) (path string, err error)

	// Output is drawn on; nil: os.Stdout. Input is read from; nil: os.Stdin, or the
	// terminal itself when that is something else.
	Output, Input *os.File

	// NoSync leaves out the marks for synchronized output (DEC mode 2026), for terminals
	// that choke on them.
	NoSync bool

	// Env looks up environment variables; nil: os.LookupEnv.
	Env func(string) (string, bool)

	// IsTerminal overrides the check of Output for colour detection in tests; nil asks
	// the file.
	IsTerminal func() bool
}

// Values that are chosen: four frames a second are enough to see a change and cost half
// a percent of a core.
const (
	DefaultRefresh = 250 * time.Millisecond
	slowRefresh    = time.Second
	SlowLink       = 20e6 // bits/s
	frameRate      = 12   // of bubbletea's writer: its default of 60 costs more than the drawing
)

func (o Options) env() style.Env {
	if o.Env != nil {
		return o.Env
	}
	return os.LookupEnv
}

// look chooses palette and glyphs.
func (o Options) look(tty bool) (*style.Palette, *style.Glyphs) {
	env := o.env()
	profile := style.DetectProfile(o.Color, env, tty)
	if o.Theme == "mono" {
		profile = min(profile, style.Mono)
	}
	return style.NewPalette(profile, style.DetectTheme(o.Theme, env)),
		style.DetectGlyphs(o.Glyphs, env, runtime.GOOS == "windows")
}

// ValidColor, ValidGlyphs and ValidTheme list what the options accept, for flags.
func ValidColor() []string  { return style.Colors }
func ValidGlyphs() []string { return style.Forms }
func ValidTheme() []string  { return style.Themes }
