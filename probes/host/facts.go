package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	gopsutil "github.com/shirou/gopsutil/v3/host"

	"linerate/probes"
	"linerate/probes/internal/kfs"
)

// patience is how long a probe may take. All of them answer within milliseconds on a
// healthy system; a stuck file of sysfs or a slow WMI must not hold up the start.
const patience = 2 * time.Second

// Host reads the facts. It takes at most two seconds; what has not answered by then,
// or by the deadline of ctx, is unknown.
func (s *Source) Host(ctx context.Context) probes.Host {
	name := begin(ctx, s.name)
	kernel := begin(ctx, s.kernel)
	platform := begin(ctx, s.platform)
	virtual := begin(ctx, s.virtual)
	processor := begin(ctx, s.cpu.Info)
	return probes.Host{
		OS:       runtime.GOOS,
		Arch:     runtime.GOARCH,
		Name:     name.wait(probes.Unread[string]),
		Kernel:   kernel.wait(probes.Unread[string]),
		Platform: platform.wait(probes.Unread[string]),
		Virtual:  virtual.wait(probes.Unread[string]),
		CPU:      processor.wait(unknownCPU),
	}
}

func unknownCPU(err error) probes.CPU {
	return probes.CPU{
		Model:    probes.Unread[string](err),
		Cores:    runtime.NumCPU(),
		FreqHz:   probes.Unread[[]float64](err),
		MaxHz:    probes.Unread[float64](err),
		Governor: probes.Unread[string](err),
		Driver:   probes.Unread[string](err),
	}
}

func (s *Source) name(context.Context) probes.Reading[string] {
	if !s.live {
		return probes.Read(kfs.Text(s.root, "proc/sys/kernel/hostname"))
	}
	return probes.Read(os.Hostname())
}

func (s *Source) kernel(ctx context.Context) probes.Reading[string] {
	if !s.live {
		return probes.Read(kfs.Text(s.root, "proc/sys/kernel/osrelease"))
	}
	return probes.Read(gopsutil.KernelVersionWithContext(ctx))
}

// platform reads os-release on Linux itself: gopsutil would give "debian 12.5", and
// runs the lsb_release command where it finds one.
func (s *Source) platform(ctx context.Context) probes.Reading[string] {
	if runtime.GOOS == "linux" {
		text, err := kfs.Text(s.root, "etc/os-release")
		if err != nil {
			text, err = kfs.Text(s.root, "usr/lib/os-release")
		}
		if err != nil {
			return probes.Unread[string](err)
		}
		if name := prettyName(text); name != "" {
			return probes.Got(name)
		}
		return probes.Unknown[string](probes.Absent, "os-release has no name in it")
	}
	name, _, version, err := gopsutil.PlatformInformationWithContext(ctx)
	if err == nil && name == "" {
		err = probes.Missing{Status: probes.Absent, Reason: "the system does not name itself"}
	}
	return probes.Read(strings.TrimSpace(name+" "+version), err)
}

// prettyName finds PRETTY_NAME, or NAME and VERSION_ID, in a file of os-release(5).
func prettyName(text string) string {
	var pretty, name, version string
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		switch key {
		case "PRETTY_NAME":
			pretty = unquote(value)
		case "NAME":
			name = unquote(value)
		case "VERSION_ID":
			version = unquote(value)
		}
	}
	if pretty != "" {
		return pretty
	}
	return strings.TrimSpace(name + " " + version)
}

// unquote takes off the shell's quotes; within double quotes a backslash stands before
// " \ $ and `. What cannot be printed is dropped: the text goes to the screen.
func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		escapes := s[0] == '"'
		s = s[1 : len(s)-1]
		if escapes {
			s = strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\$`, `$`, "\\`", "`").Replace(s)
		}
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

// pending is a probe on its way.
type pending[T any] struct {
	ctx    context.Context
	cancel context.CancelFunc
	answer chan result[T]
}

type result[T any] struct {
	value T
	err   error
}

// begin starts a probe. Nothing can interrupt a read that is stuck in the kernel, so a
// probe that misses its deadline is left behind and ends with its read. A panic becomes
// an error: gopsutil indexes into files without looking how long they are.
func begin[T any](ctx context.Context, probe func(context.Context) T) *pending[T] {
	ctx, cancel := context.WithTimeout(ctx, patience)
	p := &pending[T]{ctx, cancel, make(chan result[T], 1)}
	go func() {
		defer func() {
			if v := recover(); v != nil {
				p.answer <- result[T]{err: fmt.Errorf("the probe broke: %v", v)}
			}
		}()
		p.answer <- result[T]{value: probe(ctx)}
	}()
	return p
}

// wait gives the answer, or what unread makes of the reason why there is none.
func (p *pending[T]) wait(unread func(error) T) T {
	defer p.cancel()
	select {
	case r := <-p.answer:
		return r.or(unread)
	case <-p.ctx.Done():
	}
	select {
	case r := <-p.answer: // in time, while wait was busy with another probe
		return r.or(unread)
	default:
	}
	if errors.Is(p.ctx.Err(), context.DeadlineExceeded) {
		return unread(errors.New("no answer in time"))
	}
	return unread(p.ctx.Err())
}

func (r result[T]) or(unread func(error) T) T {
	if r.err != nil {
		return unread(r.err)
	}
	return r.value
}
