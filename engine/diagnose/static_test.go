package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/engine"
	"linerate/probes"
)

// still is a computer without traffic on which nothing is wrong, and nothing is known of
// the far end.
func still(edits ...func(*Evidence)) Evidence {
	return base(append([]func(*Evidence){idleTest, func(e *Evidence) {
		e.Ends[farEnd] = UnknownEnd("nothing is known of the far computer without a test")
	}}, edits...)...)
}

func limit(cores float64) func(*Evidence) {
	return vitals(local, func(v *probes.Vitals) {
		v.Quota = probes.Quota{Cores: probes.Got(cores), Throttled: probes.Got(time.Duration(0))}
	})
}

func codesOf(all []engine.Finding) (codes []string) {
	for _, f := range all {
		codes = append(codes, f.Code)
	}
	return codes
}

func TestStatic(t *testing.T) {
	slow := card(local, gig/10, []float64{gig / 10, gig}, []float64{gig / 10, gig})
	tests := []struct {
		name string
		e    Evidence
		want []string
	}{
		{"nothing is wrong", still(), []string{NoCause}},
		{"nothing is known", Evidence{}, []string{NoCause}},
		{"100 Mbit/s of 1 Gbit/s", still(slow), []string{LinkBelow}},
		{"half duplex comes before a slow link", still(slow, nic(local, func(n *probes.NIC) { n.Duplex = probes.Got("half") })),
			[]string{HalfDuplex, LinkBelow}},
		{"a slot that is too narrow", still(slot(local, 5, 1, 3.4*gig)), []string{BusCeiling}},
		{"powersave", still(clocked(local, "powersave", "acpi-cpufreq", 4e9, 1.4e9, 1.4e9, 1.4e9, 1.4e9)), []string{SlowClock}},
		{"powersave that scales", still(clocked(local, "powersave", "intel_pstate", 4e9, 1.4e9, 1.4e9, 1.4e9, 1.4e9)), []string{NoCause}},
		{"stolen", still(stolenOf(local, 0, .14, 0, 0)), []string{Steal}},
		{"what needs traffic is not asked", still(ringsFull), []string{NoCause}},
		{"a far link", still(card(farEnd, gig/10, []float64{gig / 10, gig}, []float64{gig / 10, gig})), []string{LinkBelow}},
	}
	for _, tt := range tests {
		got := Static(tt.e)
		if diff := cmp.Diff(tt.want, codesOf(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		for _, f := range got {
			if f.Text == "" || f.Title == "" {
				t.Errorf("%s: %+v without words", tt.name, f)
			}
		}
	}
}

// ringsFull is an overflow, which only traffic makes.
func ringsFull(e *Evidence) {
	linked(local, probes.Counters{"rx_missed_errors": 5000, "rx_packets": 10000})(e)
	adapter(local, func(a *probes.Adapter) { a.Rings = probes.Got(probes.Rings{Rx: 512, RxMax: 4096}) })(e)
}

// A finding about both directions is said once, one about a direction with it.
func TestStaticDirections(t *testing.T) {
	hole := still(mtu(local, 9000), func(e *Evidence) {
		e.Path.MTU = probes.PathMTU{Out: probes.Got(4074), BlackHole: true, Reported: probes.Unknown[int](probes.Absent, "none")}
	}, slot(local, 5, 1, 3.4*gig))
	var got []string
	for _, f := range Static(hole) {
		got = append(got, f.Code+" "+f.Dir.String())
	}
	if diff := cmp.Diff([]string{"R43 upload", "R04 both ways"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Only rules that can be asked without traffic are: the quota's size is one of them.
func TestTightQuota(t *testing.T) {
	for _, tt := range []row{
		{CPUQuota, "half a core of four", still(limit(.5)), up, Holds, "may use 0.5 of 4 cores"},
		{CPUQuota, "as much as there is", still(limit(4)), up, Unseen, "far end not visible"},
		{CPUQuota, "the limit is unknown", still(vitals(local, func(v *probes.Vitals) {
			v.Quota.Cores = probes.Unknown[float64](probes.Denied, "no right to read cpu.max")
		})), up, Unseen, "no right to read cpu.max"},
		{CPUQuota, "the cores are unknown", still(limit(.5), blindCores(local)), up, Unseen, "cgo"},
	} {
		got := answer(t, tt.code, tt.e, tt.dir)
		said := got.why
		if got.state == Holds {
			said = got.finding.Text
			checkFinding(t, tt.name, got.finding)
		}
		if got.state != tt.want || !strings.Contains(said, tt.text) {
			t.Errorf("%s: got %v %q, want %v %q", tt.name, got.state, said, tt.want, tt.text)
		}
	}
}

func TestExaminationOfInterfaces(t *testing.T) {
	shared := clocked(local, "powersave", "acpi-cpufreq", 4e9, 1.4e9, 1.4e9, 1.4e9, 1.4e9)
	good := still(shared)
	bad := still(shared, nic(local, func(n *probes.NIC) { n.Name, n.Duplex = "eth1", probes.Got("half") }))
	x := Examination([]Evidence{good, bad})
	if diff := cmp.Diff([]string{HalfDuplex, SlowClock}, codesOf(x.Findings)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if len(x.Links) != 2 || x.Links[1].NIC.Value.Name != "eth1" || x.Traffic {
		t.Errorf("links %+v, traffic %v", x.Links, x.Traffic)
	}
	if x := Examination([]Evidence{still(), still()}); len(x.Findings) != 1 || x.Findings[0].Code != NoCause {
		t.Errorf("nothing is wrong: %v", codesOf(x.Findings))
	}
}

// Evidence of a running test is judged as such.
func TestExaminationOfTraffic(t *testing.T) {
	e := base(rateOf(up, 9.41e9))
	x := Examination([]Evidence{e})
	if !x.Traffic || x.Findings[0].Code != LineRate {
		t.Errorf("traffic %v, findings %v", x.Traffic, codesOf(x.Findings))
	}
	if want := engine.Findings(Verdicts(e)); !slices.Equal(codesOf(want), codesOf(x.Findings)) {
		t.Errorf("got %v, want the verdicts %v", codesOf(x.Findings), codesOf(want))
	}
}
