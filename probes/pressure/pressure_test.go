package pressure

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"linerate/probes"
)

// tree writes files below a new folder; only Linux's readers can use it.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skipf("fixture trees are read on Linux only, this is %s", runtime.GOOS)
	}
	dir := t.TempDir()
	for path, content := range files {
		write(t, filepath.Join(dir, path), content)
	}
	return dir
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestStalls(t *testing.T) {
	const some = "some avg10=4.31 avg60=19.95 avg300=29.20 total=441709675\n"
	r := NewAt(tree(t, map[string]string{
		"proc/pressure/cpu":    some + "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",     // Linux 6.18
		"proc/pressure/memory": "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n",            // Linux 5.4: no line of full
		"proc/pressure/io":     "full avg10=0.00 avg60=0.00 avg300=0.00 total=1\nsomething\n", // damaged
	}))
	p := r.Stalls()
	if p.CPU != probes.Got(441709675*time.Microsecond) || p.Memory != probes.Got(7*time.Microsecond) {
		t.Errorf("cpu %+v, memory %+v", p.CPU, p.Memory)
	}
	if p.IO.Status != probes.Failed || p.IO.Reason != "reading /proc/pressure/io: no line of some tasks" {
		t.Errorf("io %+v", p.IO)
	}
	none := NewAt(tree(t, map[string]string{"proc/stat": "", "proc/pressure/cpu": "some avg10=x total=y\n", "proc/pressure/io": "some avg10=0.00 avg60=0.00 avg300=0.00 total=18446744073709551615\n"})).Stalls()
	if none.Memory.Status != probes.Absent || !strings.Contains(none.Memory.Reason, "psi=1") {
		t.Errorf("without the account: %+v", none.Memory)
	}
	if none.CPU.Status != probes.Failed || none.IO.Status != probes.Failed {
		t.Errorf("of damaged files: %+v, %+v", none.CPU, none.IO)
	}
}

func TestWithoutAnything(t *testing.T) {
	dir := ""
	if runtime.GOOS == "linux" {
		dir = tree(t, nil)
	}
	r := NewAt(dir)
	defer r.Close()
	want := probes.Absent
	if runtime.GOOS != "linux" {
		want = probes.Unsupported
	}
	p, q, th := r.Stalls(), r.Quota(), r.Thermal()
	for what, got := range map[string]probes.Status{
		"cpu": p.CPU.Status, "memory": p.Memory.Status, "io": p.IO.Status, "cores": q.Cores.Status, "throttled": q.Throttled.Status,
		"events": th.Events.Status, "hot": th.Throttled.Status, "margin": th.Margin.Status,
	} {
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	for _, reason := range []string{p.CPU.Reason, q.Cores.Reason, th.Events.Reason, th.Margin.Reason} {
		if len(reason) < 10 || dir != "" && strings.Contains(reason, dir) {
			t.Errorf("reason %q", reason)
		}
	}
}

func BenchmarkStallsAndQuota(b *testing.B) {
	r := New()
	defer r.Close()
	b.ReportAllocs()
	for b.Loop() {
		r.Stalls()
		r.Quota()
	}
}

func BenchmarkThermal(b *testing.B) {
	r := New()
	b.ReportAllocs()
	for b.Loop() {
		r.Thermal()
	}
}
