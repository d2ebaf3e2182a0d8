//go:build linux

package nfnl

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// namespace puts the test into a network namespace of its own. The thread is never given
// back.
func namespace(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		skip(t, "no network namespace (needs root): %v", err)
	}
}

func skip(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("LINERATE_GATE") == "1" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

func TestNetnsRulesOfNFTables(t *testing.T) {
	nft, err := exec.LookPath("nft")
	if err != nil {
		skip(t, "no nft to make rules with: %v", err)
	}
	namespace(t)
	if r, err := (Kernel{}).NFTables(t.Context()); err != nil || r.Rules != 0 || len(r.Chains) != 0 {
		t.Fatalf("in a new namespace: %+v, %v, want nothing", r, err)
	}
	command := exec.CommandContext(t.Context(), nft, "-f", "-")
	rules := strings.Repeat("tcp dport 1 counter accept\n", 300)
	command.Stdin = strings.NewReader("table inet lr {\nchain in { type filter hook input priority 0;\nct state established accept\njump more\n}\nchain more {\n" + rules + "}\n}\ntable ip6 lr6 {\nchain empty { }\n}\n")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("nft: %v\n%s", err, out)
	}
	got, err := Kernel{}.NFTables(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got.Chains, func(a, b Chain) int { return strings.Compare(a.Name, b.Name) })
	want := Ruleset{Rules: 302, Chains: []Chain{{"lr6", "empty", false}, {"lr", "in", true}, {"lr", "more", false}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestNetnsRulesOfIPTables(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("struct ipt_replace is written here as 64-bit machines have it")
	}
	namespace(t)
	// Asking makes the table, in this namespace only.
	empty, err := Kernel{}.Legacy("filter", false)
	if err != nil {
		t.Skipf("this kernel has no ip_tables: %v", err)
	}
	if empty.Rules != 0 || len(empty.Chains) != 0 {
		t.Errorf("a new table: %+v", empty)
	}
	if six, err := (Kernel{}).Legacy("filter", true); err != nil || six.Rules != 0 {
		t.Errorf("a new table of IPv6: %+v, %v", six, err)
	}
	replace(t, filter(layout4, 112, 3, 2))
	got, err := Kernel{}.Legacy("filter", false)
	want := Ruleset{Rules: 5, Chains: []Chain{{Table: "filter", Name: "lr-test"}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, name := range []string{"lr-none", strings.Repeat("x", 32)} {
		if got, err := (Kernel{}).Legacy(name, false); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("table %q: %+v, %v, want it absent", name, got, err)
		}
	}
}

// replace puts a table of three rules in INPUT in the place of filter: IPT_SO_SET_REPLACE,
// as the command iptables does.
func replace(t *testing.T, entries []byte) {
	t.Helper()
	const size = 152 // of an entry without matches that gives a verdict
	counters := make([]byte, 16*4)
	r := make([]byte, 96, 96+len(entries))
	copy(r, "filter")
	put := func(at int, n uint32) { binary.NativeEndian.PutUint32(r[at:], n) }
	put(32, filterHooks)
	put(36, uint32(3+3+1+2+1+1))
	put(40, uint32(len(entries)))
	for i, first := range []uint32{0, 4 * size, 5 * size} { // of INPUT, FORWARD, OUTPUT
		put(44+4*(i+1), first)
		put(64+4*(i+1), uint32(3+i)*size)
	}
	put(84, 4) // the old table has four entries, whose counters it gives back
	binary.NativeEndian.PutUint64(r[88:], uint64(uintptr(unsafe.Pointer(&counters[0]))))
	r = append(r, entries...)
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	err = unix.SetsockoptString(fd, unix.SOL_IP, 64, string(r))
	runtime.KeepAlive(counters)
	if err != nil {
		t.Fatalf("replacing the table: %v", err)
	}
}

func TestDenied(t *testing.T) {
	if os.Geteuid() == 0 {
		runtime.LockOSThread() // and never unlocked: the thread ends with the test
		if err := dropAll(); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := (Kernel{}).NFTables(t.Context()); !errors.Is(err, fs.ErrPermission) || err.Error() != "listing firewall rules needs CAP_NET_ADMIN" {
		t.Errorf("nf_tables without the right: %+v, %v", r, err)
	}
	if r, err := (Kernel{}).Legacy("filter", false); !errors.Is(err, fs.ErrPermission) && !errors.Is(err, unix.ENOPROTOOPT) {
		t.Errorf("ip_tables without the right: %+v, %v", r, err)
	}
}

// dropAll takes the effective capabilities off the calling thread.
func dropAll() error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&head, &data[0]); err != nil {
		return err
	}
	data[0].Effective, data[1].Effective = 0, 0
	return unix.Capset(&head, &data[0])
}

func TestContextEndsTheRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Kernel{}).NFTables(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
}
