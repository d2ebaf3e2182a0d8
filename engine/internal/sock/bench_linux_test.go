//go:build linux

package sock

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/engine"
)

// load is a number of streams over loopback with CUBIC, as all published figures are.
type load struct {
	streams []*stream
	release func()
}

func startLoad(t testing.TB, n int, tx SendConfig) *load {
	t.Helper()
	l := &load{release: Reserve(2 * n)}
	for i := range n {
		s := &stream{pair: newPair(t, Options{Congestion: "cubic"})}
		r := recvConfig()
		r.Name, tx.Name = fmt.Sprintf("lr-rx-%d", i), fmt.Sprintf("lr-tx-%d", i)
		startRecv(s, r)
		startSend(s, tx)
		l.streams = append(l.streams, s)
	}
	return l
}

func (l *load) received() (sum uint64) {
	for _, s := range l.streams {
		sum += s.received.Bytes()
	}
	return sum
}

func (l *load) stop(t testing.TB) {
	t.Helper()
	for _, s := range l.streams {
		s.sent.Stop()
	}
	for _, s := range l.streams {
		s.drain(t)
	}
	l.release()
}

func cpuSeconds(t testing.TB) float64 {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// settleTime is left out: connections start slowly, and batches grow.
const settleTime = 200 * time.Millisecond

// measure moves chunk bytes per iteration and reports Gbit/s received and
// CPU-seconds per GB of both ends together.
func (l *load) measure(b *testing.B, chunk uint64) {
	time.Sleep(settleTime)
	first, cpu := l.received(), cpuSeconds(b)
	goal := first
	b.ResetTimer()
	for range b.N {
		goal += chunk
		for l.received() < goal {
			time.Sleep(time.Millisecond)
		}
	}
	b.StopTimer()
	moved := float64(l.received() - first)
	b.ReportMetric(moved*8/1e9/b.Elapsed().Seconds(), "Gbit/s")
	b.ReportMetric((cpuSeconds(b)-cpu)/(moved/1e9), "CPU-s/GB")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkLoopback and BenchmarkIperf3 are for comparing: run both in one run, several
// times in turn, for instance
//
//	go test -run '^$' -bench 'Loopback|Iperf3' -count 4 ./engine/internal/sock
func BenchmarkLoopback(b *testing.B) {
	for _, n := range []int{1, 2, 4, 8} {
		b.Run(fmt.Sprintf("streams=%d", n), func(b *testing.B) {
			l := startLoad(b, n, sendConfig())
			defer l.stop(b)
			l.measure(b, 1<<30)
		})
	}
}

// BenchmarkPaced is one stream at 10 Gbit/s: what counts is CPU-s/GB.
func BenchmarkPaced(b *testing.B) {
	cfg := sendConfig()
	cfg.Rate = 10e9
	l := startLoad(b, 1, cfg)
	defer l.stop(b)
	l.measure(b, 256<<20)
}

// BenchmarkSlow is what streams of 1 Mbit/s cost: mostly waiting.
func BenchmarkSlow(b *testing.B) {
	for _, n := range []int{1, 8, 128} {
		b.Run(fmt.Sprintf("streams=%d", n), func(b *testing.B) {
			cfg := sendConfig()
			cfg.Rate = 1e6
			l := startLoad(b, n, cfg)
			defer l.stop(b)
			time.Sleep(settleTime)
			cpu := cpuSeconds(b)
			b.ResetTimer()
			for range b.N {
				time.Sleep(100 * time.Millisecond)
			}
			b.StopTimer()
			b.ReportMetric((cpuSeconds(b)-cpu)*1e3/b.Elapsed().Seconds(), "CPU-ms/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

func BenchmarkIperf3(b *testing.B) {
	for _, n := range []int{1, 2, 4, 8} {
		b.Run(fmt.Sprintf("streams=%d", n), func(b *testing.B) { iperf3(b, "-P", strconv.Itoa(n)) })
	}
	b.Run("paced", func(b *testing.B) { iperf3(b, "-b", "10G") })
}

// iperf3 runs a client and a server of iperf3 3.18 for a second per iteration and
// reports what measure does.
func iperf3(b *testing.B, args ...string) {
	const program = "/opt/iperf3-3.18/iperf3"
	if _, err := exec.LookPath(program); err != nil {
		b.Skipf("no iperf3 3.18 here: %v", err)
	}
	port := freePort(b)
	ctx, cancel := context.WithCancel(b.Context())
	server := exec.CommandContext(ctx, program, "-s", "-p", port)
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		cancel()
		server.Wait() // its exit status is that of the kill
	}()
	waitFor(b, "iperf3 listens", func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	var bits, cpu float64
	for range b.N {
		args := append([]string{"-c", "127.0.0.1", "-p", port, "-C", "cubic", "-t", "1", "-J"}, args...)
		out, err := exec.CommandContext(ctx, program, args...).Output()
		if err != nil {
			b.Fatalf("iperf3: %v\n%s", err, bytes.TrimSpace(out))
		}
		var r struct {
			End struct {
				Received struct {
					Bytes   float64 `json:"bytes"`
					Seconds float64 `json:"seconds"`
					Rate    float64 `json:"bits_per_second"`
				} `json:"sum_received"`
				CPU struct {
					Host   float64 `json:"host_total"`
					Remote float64 `json:"remote_total"`
				} `json:"cpu_utilization_percent"`
			} `json:"end"`
		}
		if err := json.Unmarshal(out, &r); err != nil {
			b.Fatal(err)
		}
		bits += r.End.Received.Rate
		cpu += (r.End.CPU.Host + r.End.CPU.Remote) / 100 * r.End.Received.Seconds / (r.End.Received.Bytes / 1e9)
	}
	b.ReportMetric(bits/1e9/float64(b.N), "Gbit/s")
	b.ReportMetric(cpu/float64(b.N), "CPU-s/GB")
	b.ReportMetric(0, "ns/op")
}

func freePort(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return strconv.Itoa(ln.Addr().(*net.TCPAddr).Port)
}

// BenchmarkCollect is a garbage collection while eight threads move bytes at full
// speed, without telling the scheduler: what the screen may wait for, at most.
func BenchmarkCollect(b *testing.B) {
	l := startLoad(b, 4, sendConfig())
	defer l.stop(b)
	time.Sleep(settleTime)
	var before, after debug.GCStats
	debug.ReadGCStats(&before)
	for b.Loop() {
		runtime.GC()
	}
	debug.ReadGCStats(&after)
	cycles := after.NumGC - before.NumGC
	b.ReportMetric(float64((after.PauseTotal-before.PauseTotal).Microseconds())/1e3/float64(cycles), "ms-paused/op")
	b.ReportMetric(float64(slices.Max(after.Pause[:min(int(cycles), len(after.Pause))]).Microseconds())/1e3, "ms-paused-max")
}

// No call allocates: a run of many calls leaves no more garbage than one of few.
func TestCallsDoNotAllocate(t *testing.T) {
	cfg := sendConfig()
	cfg.Block, cfg.Batch = engine.DefaultBlockSize/8, false
	l := startLoad(t, 1, cfg)
	waitFor(t, "the stream runs", func() bool { return l.received() > 1<<20 })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	from := l.received()
	for l.received() < from+512<<20 { // 32768 calls
		time.Sleep(5 * time.Millisecond)
	}
	runtime.ReadMemStats(&after)
	l.stop(t)
	if n := after.Mallocs - before.Mallocs; n > 1000 {
		t.Errorf("%d allocations during more than 32,000 calls, want next to none", n)
	}
}
