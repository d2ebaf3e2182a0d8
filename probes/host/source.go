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
	"linerate/probes/disk"
	"linerate/probes/firewall"
	"linerate/probes/netstack"
	"linerate/probes/nic"
	"linerate/probes/pressure"
	"linerate/probes/sysctl"
)

// Source reads one computer. Load and Close belong to one goroutine; the other methods
// may be called from any.
type Source struct {
	root   fs.FS
	live   bool // this computer, not a fixture
	cpu    *cpu.Reader
	nic    *nic.Reader
	sysctl *sysctl.Reader
	clock  func() (time.Duration, error) // for windows; since epoch
	epoch  time.Time

	last     reading // the one that the next window starts at
	spare    reading // its buffers are used for the next one
	lastLoad probes.Load
	rest     rest

	vitals vitals
}

// New reads this computer.
func New() *Source {
	start := time.Now()
	return &Source{
		root:   os.DirFS("/"),
		live:   true,
		cpu:    cpu.New(),
		nic:    nic.New(),
		sysctl: sysctl.New(),
		clock:  func() (time.Duration, error) { return time.Since(start), nil },
		epoch:  start,
		vitals: vitals{stack: netstack.New(), pressure: pressure.New(), firewall: firewall.New(), disk: disk.New()},
	}
}

// NewAt reads the fixture tree at dir: a folder with proc, sys and etc as Linux has
// them, netlink.json and netfilter.json (see hosttest). Its clock is proc/uptime, so that a
// window is as long as the fixture says, whatever the test takes.
func NewAt(dir string) *Source {
	return &Source{
		root:   os.DirFS(dir),
		cpu:    cpu.NewAt(dir),
		nic:    nic.NewAt(dir),
		sysctl: sysctl.NewAt(dir),
		clock:  func() (time.Duration, error) { return uptime(filepath.Join(dir, "proc", "uptime")) },
		epoch:  time.Unix(0, 0),
		vitals: vitals{stack: netstack.NewAt(dir), pressure: pressure.NewAt(dir), firewall: firewall.NewAt(dir), disk: disk.NewAt(dir)},
	}
}

// Close closes the files that Load and Vitals keep open.
func (s *Source) Close() {
	s.cpu.Close()
	s.vitals.close()
}

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
