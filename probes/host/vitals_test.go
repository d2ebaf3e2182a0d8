package host

import (
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"linerate/probes"
	"linerate/probes/host/hosttest"
)

// everything is a window in which something of everything happened on the mini-PC.
func everything() probes.Vitals {
	shaped := probes.Qdisc{Device: "enp1s0", Kind: "tbf", Parent: "root", RateBps: 200e6, Dropped: 3, Overlimits: 199_891, Requeues: 2, Backlog: 136_800}
	return probes.Vitals{
		TCP:         probes.Got(probes.Counters{"TcpExt.TCPLostRetransmit": 10, "Tcp.RetransSegs": 374, "Udp.RcvbufErrors": 105_092, "Icmp6InPktTooBigs": 1, "IpExt.InOctets": 1 << 40}),
		SocketPages: probes.Got(uint64(180_000)),
		Softnet:     probes.Got([]probes.Softnet{{Core: 0, Processed: 477_870, Dropped: 4, Squeezed: 30, RPS: 7, FlowLimit: 1}, {Core: 1}, {Core: 2}, {Core: 3, Processed: 5}}),
		NetRx:       probes.Got([]uint64{9000, 0, 10, 0}),
		Link:        probes.Got(probes.Counters{"rx_missed_errors": 1200, "rx_crc_errors": 2}),
		Driver:      probes.Got(probes.Counters{"rx_no_dma_resources": 1200, "rx_flow_control_xoff": 8}),
		Qdiscs:      probes.Got([]probes.Qdisc{shaped}),
		Queues: probes.Got([]probes.QueueIRQ{
			{IRQ: hosttest.QueueIRQ(0), Name: "enp1s0-TxRx-0", Core: 2, Count: 70_000},
			{IRQ: hosttest.QueueIRQ(3), Name: "enp1s0-TxRx-3", Core: 0, Count: 12},
		}),
		Pressure:  probes.Pressure{CPU: probes.Got(400 * time.Millisecond), Memory: probes.Got(time.Microsecond), IO: probes.Got(2 * time.Second)},
		Quota:     probes.Quota{Cores: probes.Got(1.5), Throttled: probes.Got(270 * time.Millisecond)},
		Thermal:   probes.Thermal{Events: probes.Got(uint64(3)), Throttled: probes.Got(60 * time.Millisecond), Margin: probes.Got(1.5)},
		Conntrack: probes.Got(probes.Conntrack{Count: 260_000, Max: 262_144, Failed: 17}),
		CoreHz:    probes.Got([]float64{0.8e9, 3.4e9, 2.9e9, 2.9e9}),
		Carrier:   probes.Got(uint64(1)),
		Disks: probes.Got([]probes.DiskTimes{
			{Name: "nvme0n1", ReadBytes: 512 * 1000, WrittenBytes: 512 * 2_000_000, Busy: 900 * time.Millisecond},
			{Name: "nvme0n1p1"},
		}),
		Dirty:   probes.Got(.95),
		Members: probes.Unknown[[]probes.Member](probes.Absent, "not a bond"),
	}
}

func fixture(t *testing.T) (*hosttest.Host, *Source) {
	t.Helper()
	m := hosttest.N100()
	m.Quota = 1.5
	m.NIC.Qdiscs = []probes.Qdisc{{Kind: "tbf", Parent: "root", RateBps: 200e6}}
	m.Settings = map[string]string{"net.ipv4.tcp_rmem": "4096\t131072\t524288"}
	m.Firewall = hosttest.Filter{Table: "firewalld", Rules: 412}
	h := hosttest.New(t, m)
	s := NewAt(h.Root())
	t.Cleanup(s.Close)
	return h, s
}

// What Happen says is what two readings differ by, through every file and reader.
func TestVitalsOfFixture(t *testing.T) {
	h, s := fixture(t)
	before := s.Vitals(t.Context(), "enp1s0")
	want := everything()
	h.Happen(want)
	h.Transfer(3_000_000, 1514)
	h.Advance(3*time.Second, hosttest.Idle(4), nil)
	got := s.Vitals(t.Context(), "enp1s0").Since(before)

	if got.Window != 3*time.Second {
		t.Errorf("window %v, want 3s", got.Window)
	}
	want.Link.Value["rx_bytes"], want.Link.Value["tx_bytes"] = 3_000_000, 1514
	want.Link.Value["rx_packets"], want.Link.Value["tx_packets"] = 1982, 1
	opts := cmp.Options{
		cmpopts.IgnoreFields(probes.Vitals{}, "At", "Window"),
		cmpopts.EquateApprox(0, 1e-9),
		cmp.FilterValues(func(a, b probes.Counters) bool { return true }, cmp.Transformer("counted", counted)),
	}
	if diff := cmp.Diff(want, got, opts); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if r := got.PerSecond(got.TCP, "Udp.RcvbufErrors"); r.Value != 105_092.0/3 {
		t.Errorf("rate %+v", r)
	}
}

// counted leaves out what did not count.
func counted(c probes.Counters) map[string]uint64 {
	out := map[string]uint64{}
	for name, n := range c {
		if n != 0 {
			out[name] = n
		}
	}
	return out
}

// The route may leave by a VLAN: its card's counters are those that tell of lost frames.
func TestVitalsThroughAStack(t *testing.T) {
	m := hosttest.N100()
	m.NIC.Stack = []hosttest.Device{{Name: "enp1s0.7", Kind: "vlan", MTU: 1500}}
	h := hosttest.New(t, m)
	s := NewAt(h.Root())
	defer s.Close()
	before := s.Vitals(t.Context(), "enp1s0.7")
	h.Happen(probes.Vitals{
		Link:   probes.Got(probes.Counters{"rx_crc_errors": 4}),
		Driver: probes.Got(probes.Counters{"rx_no_dma_resources": 5}),
		Queues: probes.Got([]probes.QueueIRQ{{IRQ: hosttest.QueueIRQ(3), Core: 1, Count: 6}}),
		Qdiscs: probes.Got([]probes.Qdisc{{Kind: "fq_codel", Parent: ":1", Dropped: 7}}),
	})
	h.Advance(time.Second, hosttest.Idle(4), nil)
	d := s.Vitals(t.Context(), "enp1s0.7").Since(before)
	if d.Link.Value["rx_crc_errors"] != 4 || d.Driver.Value["rx_no_dma_resources"] != 5 {
		t.Errorf("%d frames damaged, %d without a descriptor, want 4 and 5", d.Link.Value["rx_crc_errors"], d.Driver.Value["rx_no_dma_resources"])
	}
	if q := d.Queues.Value; len(q) != 1 || q[0].Core != 1 || q[0].Count != 6 {
		t.Errorf("queues %+v", d.Queues)
	}
	for _, q := range d.Qdiscs.Value {
		if q.Kind == "fq_codel" && (q.Device != "enp1s0" || q.Dropped != 7) {
			t.Errorf("queue %+v", q)
		}
	}
}

// The slow readings are made once a second, or for another interface.
func TestSlowTierIsReused(t *testing.T) {
	h, s := fixture(t)
	happen := probes.Vitals{TCP: probes.Got(probes.Counters{"Tcp.OutSegs": 1}), Driver: probes.Got(probes.Counters{"rx_missed_errors": 1})}
	first := s.Vitals(t.Context(), "enp1s0")
	for _, step := range []struct {
		dt           time.Duration
		nic          string
		sent, missed uint64 // since the first reading
	}{
		{500 * time.Millisecond, "enp1s0", 1, 0},
		{400 * time.Millisecond, "enp1s0", 2, 0},
		{100 * time.Millisecond, "enp1s0", 3, 3},
		{500 * time.Millisecond, "enp1s0", 4, 3},
		{500 * time.Millisecond, "enp1s0", 5, 5},
	} {
		h.Happen(happen)
		h.Advance(step.dt, hosttest.Idle(4), nil)
		d := s.Vitals(t.Context(), step.nic).Since(first)
		if d.TCP.Value["Tcp.OutSegs"] != step.sent || d.Driver.Value["rx_missed_errors"] != step.missed {
			t.Errorf("after %v: %d sent, %d missed, want %d, %d", d.Window, d.TCP.Value["Tcp.OutSegs"], d.Driver.Value["rx_missed_errors"], step.sent, step.missed)
		}
	}
	if lo := s.Vitals(t.Context(), "lo"); lo.Driver.Status != probes.Absent || !strings.Contains(lo.Driver.Reason, " lo:") || lo.Queues.Status != probes.Absent {
		t.Errorf("of another interface at once: driver %+v, queues %+v", lo.Driver, lo.Queues)
	}
	none := s.Vitals(t.Context(), "")
	if none.Link.Reason != "no interface is known" || none.Driver.Reason != "no interface is known" || none.Queues.Status != probes.Absent || !none.TCP.Known() || !none.Disks.Known() {
		t.Errorf("of no interface: link %+v, driver %+v", none.Link, none.Driver)
	}
	if gone := s.Vitals(t.Context(), "eth9"); gone.Link.Reason != `there is no interface "eth9"` || gone.Qdiscs.Status != probes.Absent {
		t.Errorf("of an interface that is gone: %+v", gone.Link)
	}
}

func TestEvidenceOfFixture(t *testing.T) {
	h, s := fixture(t)
	settings := s.Settings(t.Context())
	if got, want := settings["net.ipv4.tcp_rmem"], probes.Got(probes.Setting{Value: "4096 131072 524288"}); got != want {
		t.Errorf("tcp_rmem %+v, want %+v", got, want)
	}
	h.Set("net.core.rmem_max", "67108864")
	if got, want := s.Settings(t.Context())["net.core.rmem_max"], probes.Got(probes.Setting{Value: "67108864", Host: true}); got != want {
		t.Errorf("rmem_max %+v, want %+v", got, want)
	}
	wall := probes.Firewall{Kind: probes.Got("nftables (firewalld)"), Rules: probes.Got(412), Tracked: probes.Got(true), Router: probes.Got(false)}
	if got := s.Firewall(t.Context()); got != wall {
		t.Errorf("firewall %+v, want %+v", got, wall)
	}
	d := s.Disk(t.Context(), "/srv/file")
	if d.Name != "nvme0n1" || d.Class != probes.Got("nvme") || d.File != "ext4" || d.LimitBps.Value < 27.9e9 || d.LimitBps.Value > 28.1e9 {
		t.Errorf("disk %+v", d)
	}
	if d := s.Disk(t.Context(), "/tmp/file"); d.Class != probes.Got("memory") {
		t.Errorf("disk of /tmp: %+v", d)
	}

	if m := s.Memory(t.Context()); m.Status != probes.Absent || m.Reason != "no SMBIOS table tells of the memory" {
		t.Errorf("memory %+v", m)
	}

	m := hosttest.Workstation()
	m.Firewall.Denied = true
	m.Settings = map[string]string{"net.ipv4.ip_forward": "1"}
	denied := NewAt(hosttest.New(t, m).Root()).Firewall(t.Context())
	if denied.Rules.Status != probes.Denied || denied.Kind.Known() {
		t.Errorf("without the right: %+v", denied)
	}
}

// A guest has no clocks and no heat, and says so.
func TestVitalsOfGuest(t *testing.T) {
	m := hosttest.N100()
	m.Hz, m.NIC.Driver = 0, "virtio_net"
	s := NewAt(hosttest.New(t, m).Root())
	defer s.Close()
	v := s.Vitals(t.Context(), "enp1s0")
	for what, r := range map[string]probes.Reading[int]{
		"clocks": as(v.CoreHz), "events": as(v.Thermal.Events), "margin": as(v.Thermal.Margin), "limit": as(v.Quota.Cores), "members": as(v.Members),
	} {
		if r.Status != probes.Absent || r.Reason == "" {
			t.Errorf("%s: %+v, want it absent", what, r)
		}
	}
	if v.CoreHz.Reason != "no cpufreq: virtual machine" || !v.Driver.Known() || v.Driver.Value["tx_kicks"] != 0 {
		t.Errorf("clocks %+v, driver %+v", v.CoreHz, v.Driver)
	}
}

func as[T any](r probes.Reading[T]) probes.Reading[int] {
	return probes.Reading[int]{Status: r.Status, Reason: r.Reason}
}

// readings gives every Reading within v, by its path.
func readings(v any) map[string]probes.Reading[int] {
	found := map[string]probes.Reading[int]{}
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		switch {
		case v.Kind() != reflect.Struct:
		case strings.HasPrefix(v.Type().Name(), "Reading["):
			found[path] = probes.Reading[int]{Status: probes.Status(v.FieldByName("Status").Uint()), Reason: v.FieldByName("Reason").String()}
		default:
			for i := range v.NumField() {
				if f := v.Type().Field(i); f.IsExported() {
					walk(path+"."+f.Name, v.Field(i))
				}
			}
		}
	}
	walk("", reflect.ValueOf(v))
	return found
}

// A folder with nothing in it, as in a container that hides /proc and /sys.
func TestVitalsWithoutAnything(t *testing.T) {
	dir := t.TempDir()
	s := NewAt(dir)
	defer s.Close()
	want := probes.Absent
	if runtime.GOOS != "linux" {
		want = probes.Unsupported
	}
	all := readings(s.Vitals(t.Context(), "eth0"))
	for path, r := range readings(s.Firewall(t.Context())) {
		if path != ".Kind" && path != ".Rules" { // that there is no filter is known
			all["firewall"+path] = r
		}
	}
	for path, r := range readings(s.Disk(t.Context(), "/x")) {
		all["disk"+path] = r
	}
	for name, r := range s.Settings(t.Context()) {
		all[name] = as(r)
	}
	if len(all) < 70 {
		t.Errorf("only %d readings", len(all))
	}
	for path, r := range all {
		if r.Status != want || len(r.Reason) < 8 || strings.Contains(r.Reason, dir) {
			t.Errorf("%s: %v, %q, want %v with a reason fit for the screen", path, r.Status, r.Reason, want)
		}
	}
}

// What holds everywhere: each reading is known or has a reason, and what is read on the
// systems that have it is known.
func TestVitalsOfThisComputer(t *testing.T) {
	s := New()
	defer s.Close()
	name := "lo"
	if runtime.GOOS != "linux" {
		name = "lo0"
	}
	first := s.Vitals(t.Context(), name)
	for path, r := range readings(first) {
		if r.Status == probes.OK {
			continue
		}
		if r.Reason == "" {
			t.Errorf("%s: %v without a reason", path, r.Status)
		}
		t.Logf("%s: %v: %s", path, r.Status, r.Reason)
	}
	if runtime.GOOS != "linux" {
		if first.TCP.Status != probes.Unsupported || first.Link.Status != probes.Unsupported {
			t.Errorf("TCP %+v, link %+v, want them unsupported", first.TCP, first.Link)
		}
		return
	}
	if !first.TCP.Known() || !first.Softnet.Known() || !first.NetRx.Known() || !first.Link.Known() || !first.Qdiscs.Known() {
		t.Errorf("TCP %q, softnet %q, NET_RX %q, link %q, qdiscs %q", first.TCP.Why(), first.Softnet.Why(), first.NetRx.Why(), first.Link.Why(), first.Qdiscs.Why())
	}
	d := s.Vitals(t.Context(), name).Since(first)
	if d.Window <= 0 {
		t.Errorf("window %v", d.Window)
	}
}

func TestVitalsFromManyGoroutines(t *testing.T) {
	s := New()
	defer s.Close()
	var now time.Duration
	var mu sync.Mutex
	s.clock = func() (time.Duration, error) { // every call is due for the slow tier
		mu.Lock()
		defer mu.Unlock()
		now += time.Second
		return now, nil
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 5 {
				if v := s.Vitals(t.Context(), "lo"); v.TCP.Status == probes.NotRead {
					t.Errorf("TCP: %+v", v.TCP)
				}
			}
		})
		wg.Go(func() { s.Settings(t.Context()) })
		wg.Go(func() { s.Firewall(t.Context()) })
		wg.Go(func() { s.Disk(t.Context(), "/") })
	}
	wg.Wait()
}

// BenchmarkVitals is one call of the medium tier, and one that reads the slow tier too.
func BenchmarkVitals(b *testing.B) {
	for _, bb := range []struct {
		name string
		step time.Duration
	}{{"medium", 0}, {"slow", time.Second}} {
		for _, nic := range []string{"lo", "eth0"} {
			b.Run(bb.name+"/"+nic, func(b *testing.B) {
				s := New()
				defer s.Close()
				var now time.Duration
				s.clock = func() (time.Duration, error) { now += bb.step; return now, nil }
				s.Vitals(b.Context(), nic)
				b.ReportAllocs()
				for b.Loop() {
					s.Vitals(b.Context(), nic)
				}
			})
		}
	}
}
