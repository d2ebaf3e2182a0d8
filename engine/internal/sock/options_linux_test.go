//go:build linux

package sock

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"linerate/engine"
)

func intOption(t *testing.T, c *net.TCPConn, level, opt int) (v int) {
	t.Helper()
	if err := control(c, func(fd uintptr) (err error) {
		v, err = unix.GetsockoptInt(int(fd), level, opt)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return v
}

// Every option arrives in the kernel: a client's through Control and Apply, a server's
// through Apply alone.
func TestOptions(t *testing.T) {
	type want struct {
		name       string
		level, opt int
		value      int
	}
	for _, test := range []struct {
		name string
		opts Options
		want []want
	}{
		{"nothing asked", Options{}, []want{{"TCP_NODELAY", unix.IPPROTO_TCP, unix.TCP_NODELAY, 0}}},
		{"-N", Options{NoDelay: true}, []want{{"TCP_NODELAY", unix.IPPROTO_TCP, unix.TCP_NODELAY, 1}}},
		{"-w", Options{Window: 100_000}, []want{
			{"SO_SNDBUF", unix.SOL_SOCKET, unix.SO_SNDBUF, 200_000},
			{"SO_RCVBUF", unix.SOL_SOCKET, unix.SO_RCVBUF, 200_000},
		}},
		{"-S", Options{TOS: 0xb8}, []want{{"IP_TOS", unix.IPPROTO_IP, unix.IP_TOS, 0xb8}}},
		{"--fq-rate", Options{FQRate: 80e6}, []want{{"SO_MAX_PACING_RATE", unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, 10_000_000}}},
		{"--snd-timeout", Options{UserTimeout: 1500 * time.Millisecond}, []want{{"TCP_USER_TIMEOUT", unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, 1500}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			client, server := dialPair(t, test.opts)
			defer client.Close()
			defer server.Close()
			for end, c := range map[string]*net.TCPConn{"client": client, "server": server} {
				opts := test.opts
				opts.Server = end == "server"
				warnings, err := opts.Apply(c)
				if err != nil || len(warnings) != 0 {
					t.Fatalf("%s: warnings %v, error %v, want none", end, warnings, err)
				}
				for _, w := range test.want {
					if got := intOption(t, c, w.level, w.opt); got != w.value {
						t.Errorf("%s: %s is %d, want %d", end, w.name, got, w.value)
					}
				}
			}
		})
	}
}

// The segment size of the client's SYN binds both ends.
func TestOptionMSS(t *testing.T) {
	p := newPair(t, Options{MSS: 1200})
	for name, c := range map[string]*Conn{"client": p.tx, "server": p.rx} {
		mss, err := c.MSS()
		if err != nil {
			t.Fatal(err)
		}
		if mss > 1200 || mss < 1200-40 { // less the TCP options
			t.Errorf("%s: segments of %d bytes, want up to 1200", name, mss)
		}
	}
}

func TestOptionCongestion(t *testing.T) {
	p := newPair(t, Options{Congestion: "reno"}) // the one that is always there
	for name, c := range map[string]*Conn{"client": p.tx, "server": p.rx} {
		if got, err := c.Congestion(); err != nil || got != "reno" {
			t.Errorf("%s: congestion control %q, %v; want reno", name, got, err)
		}
	}

	client, server := dialPair(t, Options{})
	defer client.Close()
	defer server.Close()
	warnings, err := Options{Congestion: "nosuch", TOS: 8, Server: true}.Apply(server)
	if err != nil || len(warnings) != 1 {
		t.Errorf("server without the algorithm: warnings %v, error %v; want one warning", warnings, err)
	}
	if got := intOption(t, server, unix.IPPROTO_IP, unix.IP_TOS); got != 8 {
		t.Errorf("the other options are set all the same: type of service %d, want 8", got)
	}

	d := net.Dialer{Control: Options{Congestion: "nosuch"}.Control}
	_, err = d.DialContext(t.Context(), "tcp4", "127.0.0.1:1")
	available, readErr := os.ReadFile(availableCongestion)
	if readErr != nil {
		t.Fatal(readErr)
	}
	if !errors.Is(err, unix.ENOENT) || !strings.Contains(err.Error(), strings.Join(strings.Fields(string(available)), ", ")) {
		t.Errorf("got %v, want an error that lists %s", err, available)
	}
}

// A window beyond the kernel's limit is granted in part: a warning that names the
// limit, not an error.
func TestOptionWindowLimited(t *testing.T) {
	var limit int
	text, err := os.ReadFile("/proc/sys/net/core/wmem_max")
	if err != nil {
		t.Skip("no net.core.wmem_max here: in a namespace other than the first")
	}
	if _, err := fmt.Sscan(string(text), &limit); err != nil {
		t.Fatal(err)
	}
	opts := Options{Window: min(2*limit, engine.MaxWindow)}
	if opts.Window <= limit {
		t.Skip("this kernel grants every window")
	}
	client, server := dialPair(t, opts)
	defer client.Close()
	defer server.Close()
	warnings, err := opts.Apply(client)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("send buffer: the kernel granted %d of %d bytes (-w): raise net.core.wmem_max", limit, opts.Window)
	if len(warnings) == 0 || warnings[0].Error() != want {
		t.Errorf("warnings %v, want %q", warnings, want)
	}
}

func TestOptionBindDev(t *testing.T) {
	client, server := dialPair(t, Options{BindDev: "lo"})
	defer client.Close()
	defer server.Close()
	var dev string
	if err := control(client, func(fd uintptr) (err error) {
		dev, err = unix.GetsockoptString(int(fd), unix.SOL_SOCKET, unix.SO_BINDTODEVICE)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if dev != "lo" {
		t.Errorf("bound to %q, want lo", dev)
	}
	d := net.Dialer{Control: Options{BindDev: "nosuch0"}.Control}
	if _, err := d.DialContext(t.Context(), "tcp4", "127.0.0.1:1"); !errors.Is(err, unix.ENODEV) {
		t.Errorf("interface that is not there: %v, want %v", err, unix.ENODEV)
	}
}

func TestOptionSegmentTooSmall(t *testing.T) {
	d := net.Dialer{Control: Options{MSS: 10}.Control}
	_, err := d.DialContext(t.Context(), "tcp4", "127.0.0.1:1")
	if !errors.Is(err, unix.EINVAL) || !strings.Contains(err.Error(), "setting TCP_MAXSEG to 10") {
		t.Errorf("got %v, want EINVAL that names the option", err)
	}
}

// Two streams connect with the same flow label, and the kernel sends it.
func TestOptionFlowLabel(t *testing.T) {
	ln, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skipf("no IPv6 on loopback: %v", err)
	}
	defer ln.Close()
	const label = 0x12345
	opts := Options{FlowLabel: label, TOS: 0x20}
	d := net.Dialer{Control: opts.Control, Timeout: 5 * time.Second}
	for range 2 {
		a, err := d.DialContext(t.Context(), "tcp6", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		b, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if got := peerFlowLabel(t, a.(*net.TCPConn)); got != label {
			t.Errorf("flow label %#x, want %#x", got, label)
		}
		if got := intOption(t, a.(*net.TCPConn), unix.IPPROTO_IPV6, unix.IPV6_TCLASS); got != 0x20 {
			t.Errorf("traffic class %#x, want 0x20", got)
		}
		if _, err := a.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
	// Nobody listens there: the refusal comes through the net package as ever.
	addr := ln.Addr().String()
	ln.Close()
	if _, err := d.DialContext(t.Context(), "tcp6", addr); !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("closed port: %v, want %v", err, unix.ECONNREFUSED)
	}
}

// peerFlowLabel asks the kernel for the label that c sends with.
func peerFlowLabel(t *testing.T, c *net.TCPConn) (label int) {
	t.Helper()
	var req [32]byte
	err := control(c, func(fd uintptr) error {
		n, errno := getsockopt(int(fd), unix.IPPROTO_IPV6, ipv6FlowLabelMgr, req[:])
		if errno != 0 {
			return errno
		}
		if n < 20 {
			return fmt.Errorf("%d bytes of struct in6_flowlabel_req", n)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("reading the flow label: %v", err)
	}
	return int(req[17])<<16 | int(req[18])<<8 | int(req[19])
}
