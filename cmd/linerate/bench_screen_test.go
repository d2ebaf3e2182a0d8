//go:build linux

package main

import (
	"fmt"
	"os/exec"
	"testing"
	"time"
)

// BenchmarkDashboard measures what the screen costs: the CPU of dashboards in tmux on a test
// limited to 1 Mbit/s, less that of the same test under run. All run side by side over the
// same time: one after the other, the machine's own moods are larger than the difference.
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

	plain := exec.Command(bin, "run", "127.0.0.1", "-p", port, "-b", "1M", "-t", "0")
	if err := plain.Start(); err != nil {
		b.Fatal(err)
	}
	defer plain.Wait()
	defer plain.Process.Kill()
	measured := []struct {
		name string
		pid  int
	}{{"run", plain.Process.Pid}}
	for _, size := range []struct{ w, h int }{{80, 24}, {120, 40}, {200, 60}} {
		m := benchTmux(b, size.w, size.h, "exec "+bin+" 127.0.0.1 -p "+port+" -b 1M")
		measured = append(measured, struct {
			name string
			pid  int
		}{fmt.Sprintf("%dx%d", size.w, size.h), m.pid})
	}
	window := time.Duration(envInt("LINERATE_BENCH_SECONDS", 20)) * time.Second
	for range b.N {
		time.Sleep(3 * time.Second) // to settle
		before := make([]time.Duration, len(measured))
		for i, m := range measured {
			before[i] = processCPU(b, m.pid)
		}
		time.Sleep(window)
		var run float64
		for i, m := range measured {
			used := 100 * float64(processCPU(b, m.pid)-before[i]) / float64(window)
			if i == 0 {
				run = used
				b.ReportMetric(used, "%core-run")
				continue
			}
			b.ReportMetric(used-run, "%core-screen-"+m.name)
		}
		b.ReportMetric(0, "ns/op")
	}
}
