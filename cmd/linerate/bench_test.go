//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// The benchmarks here compare whole programs, ours and iperf3 3.18, in turn in one run,
// and print the ratio. Nothing else may run meanwhile:
//
//	go test -run '^$' -bench . -benchtime 1x ./cmd/linerate
//
// LINERATE_BENCH_ROUNDS (default 3) and LINERATE_BENCH_SECONDS (default 4) make it longer.

// program is one throughput tool in both roles.
type program struct {
	name           string
	server, client []string // argument vectors before the flags both understand
}

// throughput is what one test gave.
type throughput struct {
	bps      float64 // received
	cpuPerGB float64 // seconds, both ends
}

func BenchmarkAgainstIperf3(b *testing.B) {
	ours, theirs := programs(b)
	rounds, seconds := envInt("LINERATE_BENCH_ROUNDS", 3), envInt("LINERATE_BENCH_SECONDS", 4)
	for _, streams := range []int{1, 2, 4, 8} {
		b.Run(fmt.Sprintf("streams=%d", streams), func(b *testing.B) {
			for range b.N {
				we, they := inTurn(b, ours, theirs, rounds, "-P", fmt.Sprint(streams), "-t", fmt.Sprint(seconds), "-C", "cubic")
				b.ReportMetric(we.bps/1e9, "Gbit/s")
				b.ReportMetric(they.bps/1e9, "iperf3-Gbit/s")
				b.ReportMetric(we.bps/they.bps, "x-iperf3")
				b.ReportMetric(we.cpuPerGB, "CPU-s/GB")
				b.ReportMetric(they.cpuPerGB, "iperf3-CPU-s/GB")
				b.ReportMetric(0, "ns/op")
			}
		})
	}
	b.Run("paced=10G", func(b *testing.B) {
		for range b.N {
			we, they := inTurn(b, ours, theirs, rounds, "-P", "1", "-b", "10G", "-t", fmt.Sprint(seconds), "-C", "cubic")
			b.ReportMetric(we.bps/1e9, "Gbit/s")
			b.ReportMetric(they.bps/1e9, "iperf3-Gbit/s")
			b.ReportMetric(we.cpuPerGB, "CPU-s/GB")
			b.ReportMetric(they.cpuPerGB, "iperf3-CPU-s/GB")
			b.ReportMetric(we.cpuPerGB/they.cpuPerGB, "x-iperf3-CPU")
			b.ReportMetric(0, "ns/op")
		}
	})
}

// inTurn runs both programs alternately and gives the median of each.
func inTurn(b *testing.B, ours, theirs program, rounds int, flags ...string) (we, they throughput) {
	b.Helper()
	var a, c []throughput
	for range rounds {
		a = append(a, ours.measure(b, flags...))
		c = append(c, theirs.measure(b, flags...))
	}
	return median(a), median(c)
}

func median(all []throughput) throughput {
	pick := func(of func(throughput) float64) float64 {
		v := make([]float64, len(all))
		for i, t := range all {
			v[i] = of(t)
		}
		slices.Sort(v)
		return v[len(v)/2]
	}
	return throughput{
		bps:      pick(func(t throughput) float64 { return t.bps }),
		cpuPerGB: pick(func(t throughput) float64 { return t.cpuPerGB }),
	}
}

func (p program) measure(b *testing.B, flags ...string) throughput {
	b.Helper()
	port := freePort(b)
	server := exec.Command(p.server[0], append(p.server[1:], "-p", port)...)
	if err := server.Start(); err != nil {
		b.Fatalf("%s server: %v", p.name, err)
	}
	defer server.Wait()
	defer server.Process.Kill()
	awaitPort(b, port)

	var out bytes.Buffer
	client := exec.Command(p.client[0], append(append(p.client[1:], "127.0.0.1", "-p", port, "-J"), flags...)...)
	client.Stdout, client.Stderr = &out, os.Stderr
	if err := client.Run(); err != nil {
		b.Fatalf("%s client: %v\n%s", p.name, err, out.Bytes())
	}
	serverCPU := processCPU(b, server.Process.Pid)
	var doc struct {
		End struct {
			SumReceived struct {
				Bytes         float64
				BitsPerSecond float64 `json:"bits_per_second"`
			} `json:"sum_received"`
		}
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		b.Fatalf("%s: %v", p.name, err)
	}
	got := doc.End.SumReceived
	if got.Bytes == 0 {
		b.Fatalf("%s received nothing:\n%s", p.name, out.Bytes())
	}
	cpu := client.ProcessState.UserTime() + client.ProcessState.SystemTime() + serverCPU
	return throughput{bps: got.BitsPerSecond, cpuPerGB: cpu.Seconds() / (got.Bytes / 1e9)}
}

// programs builds linerate and finds iperf3 3.18.
func programs(b *testing.B) (ours, theirs program) {
	b.Helper()
	bin := buildLinerate(b)
	iperf3 := os.Getenv("LINERATE_IPERF3_318")
	if iperf3 == "" {
		iperf3 = "/opt/iperf3-3.18/iperf3"
	}
	if _, err := os.Stat(iperf3); err != nil {
		b.Skipf("iperf3 3.18 is needed for comparison: %v", err)
	}
	return program{"linerate", []string{bin, "serve"}, []string{bin, "run"}},
		program{"iperf3", []string{iperf3, "-s"}, []string{iperf3, "-c"}}
}

func buildLinerate(b testing.TB) string {
	b.Helper()
	bin := filepath.Join(b.TempDir(), "linerate")
	build := exec.Command("go", "build", "-o", bin, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("building: %v\n%s", err, out)
	}
	return bin
}

// processCPU reads the user and system time a live process has used, all its threads.
func processCPU(b testing.TB, pid int) time.Duration {
	b.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+2:])
	var ticks int64
	for _, f := range fields[11:13] { // utime, stime: columns 14 and 15 of proc(5)
		var v int64
		if _, err := fmt.Sscan(string(f), &v); err != nil {
			b.Fatal(err)
		}
		ticks += v
	}
	return time.Duration(ticks) * time.Second / 100 // USER_HZ is 100 on every Linux port
}

func envInt(name string, otherwise int) int {
	var v int
	if _, err := fmt.Sscan(os.Getenv(name), &v); err != nil {
		return otherwise
	}
	return v
}
