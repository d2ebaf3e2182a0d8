//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"testing"
	"time"
)

// BenchmarkDashboard measures what the screen costs: the CPU of the dashboard in tmux on
// a test limited to 1 Mbit/s, less that of the same test under run.
//
//	go test -run '^$' -bench Dashboard -benchtime 1x ./cmd/linerate
func BenchmarkDashboard(b *testing.B) {
	bin := buildLinerate(b)
	port := freePort(b)
	server := exec.Command(bin, "serve", "-p", port)
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	defer server.Wait()
	defer server.Process.Kill()
	awaitPort(b, port)
	window := time.Duration(envInt("LINERATE_BENCH_SECONDS", 20)) * time.Second

	plain := exec.Command(bin, "run", "127.0.0.1", "-p", port, "-b", "1M", "-t", "0")
	if err := plain.Start(); err != nil {
		b.Fatal(err)
	}
	without := coreShare(b, plain.Process.Pid, window)
	plain.Process.Kill()
	plain.Wait()

	for _, size := range []struct{ w, h int }{{80, 24}, {120, 40}, {200, 60}} {
		b.Run(fmt.Sprintf("%dx%d", size.w, size.h), func(b *testing.B) {
			m := benchTmux(b, size.w, size.h, "exec "+bin+" 127.0.0.1 -p "+port+" -b 1M")
			for range b.N {
				with := coreShare(b, m.pid, window)
				b.ReportMetric(100*with, "%core")
				b.ReportMetric(100*without, "%core-run")
				b.ReportMetric(100*(with-without), "%core-screen")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
}

// coreShare is the share of one core that a process uses over a window, after it has had
// 3 s to settle.
func coreShare(b *testing.B, pid int, window time.Duration) float64 {
	b.Helper()
	time.Sleep(3 * time.Second)
	before := processCPU(b, pid)
	time.Sleep(window)
	return float64(processCPU(b, pid)-before) / float64(window)
}
