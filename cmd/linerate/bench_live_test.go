//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"linerate/engine"
	"linerate/engine/session"
	"linerate/probes/host"
)

// BenchmarkLiveChange measures the time without payload of a live change at 8 streams
// against iperf3 3.18 on loopback.
//
//	go test -run '^$' -bench LiveChange -benchtime 1x ./cmd/linerate
func BenchmarkLiveChange(b *testing.B) {
	_, theirs := programs(b)
	port := freePort(b)
	server := exec.Command(theirs.server[0], append(theirs.server[1:], "-p", port)...)
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	defer server.Wait()
	defer server.Process.Kill()
	awaitPort(b, port)

	var gaps []time.Duration
	for range b.N {
		l := startLive(b, port, 8)
		for n := range 8 {
			l.step(b, n+1)
			if err := l.s.Do(b.Context(), engine.SetStreams{N: 8 + (n+1)%2}); err != nil {
				b.Fatal(err)
			}
		}
		l.step(b, 9)
		for _, seg := range l.end().Last.Segments[1:] {
			gaps = append(gaps, seg.Gap)
		}
	}
	slices.Sort(gaps)
	b.ReportMetric(milliseconds(gaps[len(gaps)/2]), "ms-gap-median")
	b.ReportMetric(milliseconds(gaps[len(gaps)-1]), "ms-gap-worst")
	b.ReportMetric(float64(len(gaps)), "changes")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkConductor measures what the program costs besides moving bytes, at full speed
// against an own server in another process: the CPU of all other threads, the collector,
// and how late the session's tick was at worst.
//
//	go test -run '^$' -bench Conductor -benchtime 1x ./cmd/linerate
func BenchmarkConductor(b *testing.B) {
	bin := buildLinerate(b)
	for _, streams := range []int{8, 128} {
		b.Run(fmt.Sprintf("streams=%d", streams), func(b *testing.B) {
			port := freePort(b)
			server := exec.Command(bin, "serve", "-p", port)
			if err := server.Start(); err != nil {
				b.Fatal(err)
			}
			defer server.Wait()
			defer server.Process.Kill()
			awaitPort(b, port)
			collectRarely() // main does it in the program
			for range b.N {
				runtime.GC()
				before := collector()
				l := startLive(b, port, streams)
				l.step(b, 1)
				began := time.Now()
				time.Sleep(time.Duration(envInt("LINERATE_BENCH_SECONDS", 10)) * time.Second)
				lasted := time.Since(began).Seconds()
				after := collector()
				stats := l.s.Stats()
				last := l.end().Last
				b.ReportMetric(100*last.SelfCPU.Or(-1), "%core-besides")
				b.ReportMetric(float64(after.cycles-before.cycles)/lasted, "GC/s")
				b.ReportMetric(100*(after.cpu-before.cpu)/lasted, "%core-GC")
				b.ReportMetric(milliseconds(stats.Late), "ms-tick-worst-late")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// BenchmarkMemory measures the resident size of the dashboard with 8 streams at full speed
// after LINERATE_BENCH_MINUTES (default 1).
//
//	LINERATE_BENCH_MINUTES=10 go test -timeout 20m -run '^$' -bench Memory -benchtime 1x ./cmd/linerate
func BenchmarkMemory(b *testing.B) {
	bin := buildLinerate(b)
	port := freePort(b)
	server := exec.Command(bin, "serve", "-p", port)
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	defer server.Wait()
	defer server.Process.Kill()
	awaitPort(b, port)
	m := benchTmux(b, 120, 40, "exec "+bin+" 127.0.0.1 -p "+port+" -P 8")
	for range b.N {
		time.Sleep(time.Duration(envInt("LINERATE_BENCH_MINUTES", 1)) * time.Minute)
		b.ReportMetric(residentMB(b, m.pid), "MB-resident")
		b.ReportMetric(0, "ns/op")
	}
}

// BenchmarkKeyEcho measures how long after a key its echo is on the screen, tmux and the
// polling of it (about 5 ms) included.
//
//	go test -run '^$' -bench KeyEcho -benchtime 1x ./cmd/linerate
func BenchmarkKeyEcho(b *testing.B) {
	bin := buildLinerate(b)
	for range b.N {
		m := benchTmux(b, 120, 40, "exec "+bin+" demo -b 10M")
		m.await(b, "TCP ×1")
		var delays []time.Duration
		for n := 2; n <= 9; n++ {
			time.Sleep(1500*time.Millisecond + time.Duration(n)*37*time.Millisecond)
			pressed := time.Now()
			m.do(b, "send-keys", "+")
			m.await(b, fmt.Sprintf("asked ×%d", n))
			delays = append(delays, time.Since(pressed))
			m.await(b, fmt.Sprintf("TCP ×%d", n))
		}
		slices.Sort(delays)
		b.ReportMetric(milliseconds(delays[len(delays)/2]), "ms-echo-median")
		b.ReportMetric(milliseconds(delays[len(delays)-1]), "ms-echo-worst")
		b.ReportMetric(0, "ns/op")
	}
}

// live is a session under way, with its snapshots read as a screen does.
type live struct {
	s    *session.Session
	over chan engine.Summary
	host *host.Source
	news chan int // number of steps, newest wins
}

func startLive(b *testing.B, port string, streams int) *live {
	b.Helper()
	p, err := strconv.Atoi(port)
	if err != nil {
		b.Fatal(err)
	}
	l := &live{host: host.New(), over: make(chan engine.Summary, 1), news: make(chan int, 1)}
	l.s = session.New(session.Config{
		Spec: engine.Spec{Host: "127.0.0.1", Port: p, Streams: streams, Congestion: "cubic", Affinity: -1, SrvAffinity: -1}.Defaults(),
		Host: l.host, Evidence: l.host, Path: l.host, Agent: agent(), Hold: true,
	})
	go func() { l.over <- l.s.Run(context.Background()) }()
	go func() {
		for {
			snap, err := l.s.Next(context.Background())
			if err != nil {
				return
			}
			if snap.Phase != engine.Running {
				continue
			}
			select {
			case <-l.news:
			default:
			}
			l.news <- len(snap.Segments)
		}
	}()
	return l
}

// step waits until step n runs and lets it run for a second and a half.
func (l *live) step(b *testing.B, n int) {
	b.Helper()
	limit := time.After(10 * time.Second)
	for {
		select {
		case got := <-l.news:
			if got >= n {
				time.Sleep(1500 * time.Millisecond)
				return
			}
		case <-limit:
			b.Fatalf("step %d does not run", n)
		}
	}
}

func (l *live) end() engine.Summary {
	defer l.host.Close()
	l.s.Do(context.Background(), engine.Quit{})
	return <-l.over
}

// collections is what the garbage collector has cost so far.
type collections struct {
	cycles uint64
	cpu    float64 // seconds
}

func collector() collections {
	read := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(read)
	return collections{read[0].Value.Uint64(), read[1].Value.Float64()}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// paneUnderTest is a program in a terminal of its own.
type paneUnderTest struct {
	socket string
	pid    int
}

func benchTmux(b *testing.B, cols, rows int, line string) *paneUnderTest {
	b.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		b.Skip("tmux is not installed")
	}
	m := &paneUnderTest{socket: fmt.Sprintf("lr-bench-%d-%d", os.Getpid(), time.Now().UnixNano())}
	b.Cleanup(func() { exec.Command("tmux", "-L", m.socket, "kill-server").Run() })
	pid := m.do(b, "-f", "/dev/null", "new-session", "-d", "-P", "-F", "#{pane_pid}", "-x", strconv.Itoa(cols), "-y", strconv.Itoa(rows), line)
	var err error
	if m.pid, err = strconv.Atoi(pid); err != nil {
		b.Fatalf("pane_pid %q: %v", pid, err)
	}
	return m
}

func (m *paneUnderTest) do(b *testing.B, args ...string) string {
	b.Helper()
	cmd := exec.Command("tmux", append([]string{"-L", m.socket}, args...)...)
	cmd.Env = append(os.Environ(), "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "SHELL=/bin/sh")
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (m *paneUnderTest) await(b *testing.B, text string) {
	b.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if strings.Contains(m.do(b, "capture-pane", "-p"), text) {
			return
		}
	}
	b.Fatalf("%q does not appear:\n%s", text, m.do(b, "capture-pane", "-p"))
}

func residentMB(b *testing.B, pid int) float64 {
	b.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			var kb float64
			if _, err := fmt.Sscan(rest, &kb); err != nil {
				b.Fatal(err)
			}
			return kb * 1024 / 1e6
		}
	}
	b.Fatal("no VmRSS")
	return 0
}
