package netstack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"linerate/probes"
)

// Captured on Linux 6.18, x86: a listener of port 5201 (0x1451) on one address and a
// connection of it, one on all addresses, and others; cut behind the inode.
const (
	tcpTable = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1451 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 51312 1
   1: 00000000:1451 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 51313 1
   2: 0100007F:1451 0100007F:C1F2 01 00000000:00000000 00:00000000 00000000     0        0 51400 1
   3: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 777 1
   4: short
`
	tcp6Table = `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000000000000:1452 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 62001 1
   1: 00000000000000000000000001000000:1453 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 62002 1
   2: 0000000000000000FFFF00000100007F:1454 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 62003 1
`
)

func littleEndian(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("read on Linux only, this is " + runtime.GOOS)
	}
	switch runtime.GOARCH {
	case "mips", "mips64", "ppc64", "s390x":
		t.Skip("the tables were captured on a processor with another byte order")
	}
}

func TestListening(t *testing.T) {
	littleEndian(t)
	r := &Reader{root: fstest.MapFS{
		"proc/net/tcp":  {Data: []byte(tcpTable)},
		"proc/net/tcp6": {Data: []byte(tcp6Table)},
	}}
	for _, tt := range []struct {
		at   string
		want []string
	}{
		{"127.0.0.1:5201", []string{"socket:[51312]"}},
		{"192.0.2.1:5201", []string{"socket:[51313]"}},
		{"0.0.0.0:5201", []string{"socket:[51312]", "socket:[51313]"}},
		{"[::1]:5201", nil},
		{"127.0.0.1:22", []string{"socket:[777]"}},
		{"127.0.0.1:5202", []string{"socket:[62001]"}},
		{"[2001:db8::1%eth0]:5202", []string{"socket:[62001]"}},
		{"[::1]:5203", []string{"socket:[62002]"}},
		{"127.0.0.1:5203", nil},
		{"[::]:5203", []string{"socket:[62002]"}},
		{"127.0.0.1:5204", []string{"socket:[62003]"}},
		{"[::ffff:127.0.0.1]:5204", []string{"socket:[62003]"}},
		{"127.0.0.1:1", nil},
	} {
		got, err := r.listening(netip.MustParseAddrPort(tt.at))
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", tt.at, err, diff)
		}
	}
}

// process puts one into a tree. denied hides its descriptors.
type process struct {
	pid     int
	comm    string
	sockets []int
	denied  bool
}

func procTree(t *testing.T, processes ...process) *Reader {
	t.Helper()
	dir := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(dir, "proc", path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("net/tcp", tcpTable)
	write("net/tcp6", tcp6Table)
	root := closed{FS: os.DirFS(dir), folders: map[string]bool{}}
	for _, p := range processes {
		write(fmt.Sprintf("%d/comm", p.pid), p.comm+"\n")
		folder := filepath.Join(dir, "proc", fmt.Sprint(p.pid), "fd")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		for i, inode := range append([]int{1}, p.sockets...) {
			if err := os.Symlink(fmt.Sprintf("socket:[%d]", inode), filepath.Join(folder, fmt.Sprint(i))); err != nil {
				t.Fatal(err)
			}
		}
		root.folders[fmt.Sprintf("proc/%d/fd", p.pid)] = p.denied
	}
	return &Reader{root: root}
}

// closed is a tree in which some folders may not be listed, whoever asks.
type closed struct {
	fs.FS
	folders map[string]bool
}

func (c closed) ReadDir(name string) ([]fs.DirEntry, error) {
	if c.folders[name] {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return fs.ReadDir(c.FS, name)
}

func (c closed) ReadLink(name string) (string, error)   { return fs.ReadLink(c.FS, name) }
func (c closed) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(c.FS, name) }

func TestListener(t *testing.T) {
	littleEndian(t)
	shell := process{pid: 700, comm: "bash"}
	for name, tt := range map[string]struct {
		all    []process
		want   probes.Program
		status probes.Status
		why    string
	}{
		"SSH":                       {[]process{shell, {pid: 812, comm: "sshd", sockets: []int{9, 51312}}}, probes.Program{Name: "sshd", PID: 812}, probes.OK, ""},
		"init keeps it for another": {[]process{{pid: 1, comm: "systemd", sockets: []int{51312}}, {pid: 90, comm: "iperf3", sockets: []int{51312}}}, probes.Program{Name: "iperf3", PID: 90}, probes.OK, ""},
		"init alone":                {[]process{shell, {pid: 1, comm: "systemd", sockets: []int{51312}}}, probes.Program{Name: "systemd", PID: 1}, probes.OK, ""},
		"parent and child":          {[]process{{pid: 1200, comm: "worker", sockets: []int{51312}}, {pid: 300, comm: "nginx", sockets: []int{51312}}}, probes.Program{Name: "nginx", PID: 300}, probes.OK, ""},
		"a name that steers":        {[]process{{pid: 812, comm: "a\x1b[2J\u202eb", sockets: []int{51312}}}, probes.Program{Name: "a[2Jb", PID: 812}, probes.OK, ""},
		"another user's":            {[]process{shell, {pid: 812, denied: true}}, probes.Program{}, probes.Denied, "the program that listens on port 5201 is another user's: only root sees which"},
		"in another pid namespace":  {[]process{shell}, probes.Program{}, probes.Absent, "the program that listens on port 5201 is not visible from here"},
	} {
		p, err := procTree(t, tt.all...).Listener(t.Context(), netip.MustParseAddrPort("127.0.0.1:5201"))
		r := probes.Read(p, err)
		if r.Status != tt.status || r.Why() != tt.why || r.Known() && r.Value != tt.want {
			t.Errorf("%s: got %+v, %v, %q, want %+v, %v, %q", name, p, r.Status, r.Why(), tt.want, tt.status, tt.why)
		}
	}
	r := procTree(t, shell)
	if _, err := r.Listener(t.Context(), netip.MustParseAddrPort("127.0.0.1:1")); !errors.Is(err, fs.ErrNotExist) || err.Error() != "no program here listens on port 1" {
		t.Errorf("a port that nobody listens on: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Listener(ctx, netip.MustParseAddrPort("127.0.0.1:5201")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	none := &Reader{root: fstest.MapFS{}}
	if _, err := none.Listener(t.Context(), netip.MustParseAddrPort("127.0.0.1:5201")); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "/proc/net/tcp") {
		t.Errorf("without /proc: %v", err)
	}
}

// This process listens, and finds itself.
func TestListenerOfThisComputer(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("read on Linux only, this is " + runtime.GOOS)
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	at := ln.Addr().(*net.TCPAddr).AddrPort()
	p, err := New().Listener(t.Context(), at)
	if err != nil || p.PID != os.Getpid() || !strings.HasPrefix(filepath.Base(os.Args[0]), p.Name) {
		t.Errorf("got %+v, %v, want process %d, %s", p, err, os.Getpid(), filepath.Base(os.Args[0]))
	}
}

func FuzzListeners(f *testing.F) {
	f.Add(tcpTable)
	f.Add(tcp6Table)
	f.Add("0: 0100007F:1451 0 0A 0 0 0 0 0 18446744073709551616 1\n")
	f.Fuzz(func(t *testing.T, table string) {
		for s := range listeners(strings.NewReader(table), 5201) {
			if !s.addr.IsValid() || s.inode == "" || strings.Trim(s.inode, "0123456789") != "" {
				t.Errorf("got %+v", s)
			}
		}
	})
}

func BenchmarkListener(b *testing.B) {
	if runtime.GOOS != "linux" {
		b.Skip("read on Linux only, this is " + runtime.GOOS)
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	r, at := New(), ln.Addr().(*net.TCPAddr).AddrPort()
	for b.Loop() {
		if _, err := r.Listener(b.Context(), at); err != nil {
			b.Fatal(err)
		}
	}
}
