package host

import (
	"context"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"linerate/probes"
	"linerate/probes/cpu"
	"linerate/probes/nic"
)

// Source reads one computer. Host and Route may be called from any goroutine; Load
// and Close belong to one.
type Source struct {
	root  fs.FS
	live  bool // this computer, not a fixture
	cpu   *cpu.Reader
	nic   *nic.Reader
	clock func() (time.Duration, error) // for windows; from any fixed moment

	last     reading // the one that the next window starts at
	spare    reading // its buffers are used for the next one
	lastLoad probes.Load
}

// New reads this computer.
func New() *Source {
	start := time.Now()
	return &Source{
		root:  os.DirFS("/"),
		live:  true,
		cpu:   cpu.New(),
		nic:   nic.New(),
		clock: func() (time.Duration, error) { return time.Since(start), nil },
	}
}

// NewAt reads the fixture tree at dir: a folder with proc, sys and etc as Linux has
// them, and netlink.json (see hosttest). Its clock is proc/uptime, so that a window
// is as long as the fixture says, whatever the test takes.
func NewAt(dir string) *Source {
	return &Source{
		root:  os.DirFS(dir),
		cpu:   cpu.NewAt(dir),
		nic:   nic.NewAt(dir),
		clock: func() (time.Duration, error) { return uptime(filepath.Join(dir, "proc", "uptime")) },
	}
}

// Close closes the files that Load keeps open.
func (s *Source) Close() { s.cpu.Close() }

// Route finds how packets reach dest and describes the interface they leave by.
func (s *Source) Route(ctx context.Context, dest netip.Addr) probes.Reading[probes.Route] {
	return begin(ctx, func(ctx context.Context) probes.Reading[probes.Route] {
		return probes.Read(s.nic.Route(ctx, dest))
	}).wait(probes.Unread[probes.Route])
}

// uptime reads the first number of proc/uptime, seconds with two decimals.
func uptime(path string) (time.Duration, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return parseUptime(string(text))
}

func parseUptime(text string) (time.Duration, error) {
	first, _, _ := strings.Cut(text, " ")
	seconds, err := strconv.ParseFloat(first, 64)
	if err != nil || !(seconds >= 0 && seconds <= maxUptime) {
		return 0, fmt.Errorf("uptime %q is not a time", text)
	}
	return time.Duration(seconds * float64(time.Second)).Round(10 * time.Millisecond), nil
}

// maxUptime keeps an uptime within a time.Duration; a century in seconds.
const maxUptime = 100 * 366 * 24 * 3600
