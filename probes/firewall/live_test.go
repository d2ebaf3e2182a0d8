package firewall

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"linerate/probes"
	"linerate/probes/internal/rtnl"
)

func TestConntrack(t *testing.T) {
	linux(t)
	// Two cores of Linux 6.18, and of 5.4, whose columns have other names and the same places.
	const stat = "entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop icmp_error  expect_new expect_create expect_delete search_restart\n" +
		"000000a5  00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000003 00000010 00000001 00000000  00000000 00000000 00000000 00000000\n" +
		"000000a5  00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000002 00000000 00000000  00000000 00000000 00000000 00000000\n"
	all := map[string]string{
		"proc/sys/net/netfilter/nf_conntrack_count": "165\n", "proc/sys/net/netfilter/nf_conntrack_max": "262144\n", "proc/net/stat/nf_conntrack": stat,
	}
	read := func(without string) probes.Reading[probes.Conntrack] {
		dir := t.TempDir()
		for path, content := range all {
			if path == without {
				continue
			}
			full := filepath.Join(dir, path)
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return NewAt(dir).Conntrack()
	}
	if got, want := read(""), probes.Got(probes.Conntrack{Count: 165, Max: 262144, Failed: 3 + 16 + 1 + 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for without, reason := range map[string]string{
		"proc/sys/net/netfilter/nf_conntrack_count": "connection tracking is not loaded",
		"proc/sys/net/netfilter/nf_conntrack_max":   "reading /proc/sys/net/netfilter/nf_conntrack_max: no such file or directory",
		"proc/net/stat/nf_conntrack":                "the kernel does not count connections that it could not track: no /proc/net/stat/nf_conntrack",
	} {
		if got := read(without); got.Status != probes.Absent || got.Reason != reason {
			t.Errorf("without %s: %+v", without, got)
		}
	}
	all["proc/net/stat/nf_conntrack"] = "entries\nzz\n"
	if got := read(""); got.Status != probes.Failed || !strings.Contains(got.Reason, "/proc/net/stat/nf_conntrack") {
		t.Errorf("damaged: %+v", got)
	}
}

// What holds everywhere: every reading is known or has a reason.
func TestThisComputer(t *testing.T) {
	got := New().Read(t.Context())
	for what, why := range map[string]string{"kind": got.Kind.Why(), "rules": got.Rules.Why(), "tracked": got.Tracked.Why(), "router": got.Router.Why()} {
		if runtime.GOOS != "linux" && !strings.Contains(why, "Linux only") {
			t.Errorf("%s: %q", what, why)
		}
		if why != "" {
			t.Logf("%s: %s", what, why)
		}
	}
	if got.Kind.Known() && got.Kind.Value == "" || got.Rules.Known() && got.Rules.Value < 0 {
		t.Errorf("%+v", got)
	}
}

func TestDamagedFixture(t *testing.T) {
	linux(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "netfilter.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := NewAt(dir).Read(t.Context()); got.Kind.Status != probes.Failed || !strings.Contains(got.Kind.Reason, "netfilter.json") {
		t.Errorf("%+v", got.Kind)
	}
	_, err := NewAt(dir).links.All(t.Context())
	if err == nil || !strings.Contains(err.Error(), rtnl.SavedFile) {
		t.Errorf("interfaces without %s: %v", rtnl.SavedFile, err)
	}
}

func BenchmarkRead(b *testing.B) {
	r := New()
	for b.Loop() {
		r.Read(b.Context())
	}
}
