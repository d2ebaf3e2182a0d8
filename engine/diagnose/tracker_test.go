package diagnose

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// play feeds a tracker from..to in steps of 250 ms and gives the last verdict.
func play(t *Tracker, from, to time.Duration, e Evidence) engine.Verdict {
	var v engine.Verdict
	for at := from; at <= to; at += 250 * time.Millisecond {
		v = t.Update(at, e)[0]
	}
	return v
}

func wantMain(t *testing.T, when string, v engine.Verdict, code string) {
	t.Helper()
	if v.Main.Code != code {
		t.Errorf("%s: got %s (%s), want %s", when, v.Main.Code, v.Main.Title, code)
	}
}

func wantAlso(t *testing.T, when string, v engine.Verdict, codes ...string) {
	t.Helper()
	got := make([]string, len(v.Also))
	for i, f := range v.Also {
		got[i] = f.Code
	}
	if len(got) != len(codes) {
		t.Errorf("%s: also %v, want %v", when, got, codes)
		return
	}
	for i := range codes {
		if got[i] != codes[i] {
			t.Errorf("%s: also %v, want %v", when, got, codes)
		}
	}
}

var (
	nothing = base(far(.1, .1))
	full1   = base(far(.1, .1), cores(engine.Local, .1, .1, .98, .1), thread(engine.Local, "lr-tx-1", engine.Upload, 2, .98))
)

func TestTrackerAppearsAfterThreeSeconds(t *testing.T) {
	tr := NewTracker()
	v := play(tr, 0, 2750*time.Millisecond, full1)
	wantMain(t, "before 3 s", v, Measuring)
	if v.Main.Text == "" || v.Main.Short == "" || v.Main.Title == "" {
		t.Errorf("measuring says nothing: %+v", v.Main)
	}
	v = play(tr, 3*time.Second, 3*time.Second, full1)
	wantMain(t, "at 3 s", v, SenderCore)
	v = play(tr, 3250*time.Millisecond, 9*time.Second, full1)
	if v.Main.Since != 3*time.Second {
		t.Errorf("visible since %v, want 3s", v.Main.Since)
	}
	wantAlso(t, "at 9 s", v)
}

func TestTrackerHoldsThroughGaps(t *testing.T) {
	tr := NewTracker()
	play(tr, 0, 4*time.Second, full1)
	v := play(tr, 4250*time.Millisecond, 5750*time.Millisecond, nothing)
	wantMain(t, "1.75 s after it last held", v, SenderCore)
	wantAlso(t, "1.75 s after it last held", v)
	v = play(tr, 6*time.Second, 6*time.Second, nothing)
	wantMain(t, "2 s after it last held", v, NoCause)
}

// A finding that holds four seconds in five is one finding, not ten.
func TestTrackerDoesNotFlap(t *testing.T) {
	tr := NewTracker()
	play(tr, 0, 5*time.Second, full1)
	for at := 5 * time.Second; at < 60*time.Second; at += 250 * time.Millisecond {
		e := full1
		if at%(5*time.Second) < 1500*time.Millisecond {
			e = nothing
		}
		if v := tr.Update(at, e)[0]; v.Main.Code != SenderCore || v.Main.Since != 3*time.Second {
			t.Fatalf("at %v: got %s since %v, want %s since 3s", at, v.Main.Code, v.Main.Since, SenderCore)
		}
	}
}

// What holds less than 3 s at a time never shows, but one missed reading is forgiven.
func TestTrackerSettles(t *testing.T) {
	tr := NewTracker()
	for at := time.Duration(0); at < 30*time.Second; at += 250 * time.Millisecond {
		e := full1
		if at%(4*time.Second) >= 2500*time.Millisecond {
			e = nothing
		}
		if v := tr.Update(at, e)[0]; v.Main.Code == SenderCore {
			t.Fatalf("at %v: a finding that holds 2.5 s at a time shows", at)
		}
	}
	tr = NewTracker()
	play(tr, 0, 1500*time.Millisecond, full1)
	play(tr, 1750*time.Millisecond, 2250*time.Millisecond, nothing)
	v := play(tr, 2500*time.Millisecond, 3*time.Second, full1)
	wantMain(t, "with a gap of 0.75 s", v, SenderCore)
}

// A sure finding of higher rank takes over once it has held for 3 s; the weaker one
// goes on as a second one.
func TestTrackerOrder(t *testing.T) {
	tr := NewTracker()
	play(tr, 0, 5*time.Second, full1)
	both := full1
	both.Flows = [2]Flow{flow(6e9), flow(6e9)}
	rateOf(engine.Upload, 1e6)(&both)
	both.Test.Spec.Bitrate = 1e6
	// R10 without TCP_INFO is only likely; R35, though later in the list, is sure.
	v := play(tr, 5250*time.Millisecond, 8*time.Second, both)
	wantMain(t, "R35 for 2.75 s", v, SenderCore)
	v = play(tr, 8250*time.Millisecond, 8500*time.Millisecond, both)
	wantMain(t, "R35 for 3 s", v, AskedRate)
	wantAlso(t, "R35 for 3 s", v, SenderCore)

	// With TCP's word for it R10 is sure too, and first.
	sender(engine.Upload, nil)(&both)
	v = play(tr, 8750*time.Millisecond, 9*time.Second, both)
	wantMain(t, "R10 sure", v, SenderCore)
	wantAlso(t, "R10 sure", v, AskedRate)
	// Confidence does not flap either: it is kept for 2 s.
	both.Flows[engine.Upload].Sender = probes.Unknown[[]StreamWindow](probes.Failed, "no TCP_INFO")
	v = play(tr, 9250*time.Millisecond, 10750*time.Millisecond, both)
	wantMain(t, "1.75 s after R10 was sure", v, SenderCore)
	v = play(tr, 11*time.Second, 11*time.Second, both)
	wantMain(t, "2 s after R10 was sure", v, AskedRate)
}

func TestTrackerHidesSymptoms(t *testing.T) {
	// Other programs fill two cores; the full cores and the full receiver are symptoms.
	e := base(direction(engine.Download), far(.1, .1), cores(engine.Local, 1, 1), thread(engine.Local, "lr-rx-1", engine.Download, 0, .96), func(e *Evidence) {
		e.Ends[engine.Local].Process = probes.Got(.96)
	})
	codes := map[string]bool{}
	for _, f := range Judge(e) {
		codes[f.Code] = true
	}
	for _, code := range []string{OtherPrograms, AllCoresFull, ReceiverCore} {
		if !codes[code] {
			t.Errorf("Judge does not give %s: %v", code, codes)
		}
	}
	v := play(NewTracker(), 0, 5*time.Second, e)
	wantMain(t, "cause and symptoms", v, OtherPrograms)
	wantAlso(t, "cause and symptoms", v)
}

func TestTrackerStartsAfreshWithEachStep(t *testing.T) {
	tr := NewTracker()
	play(tr, 0, 6*time.Second, full1)
	next := full1
	next.Test.Step++
	v := play(tr, 6250*time.Millisecond, 9*time.Second, next)
	wantMain(t, "2.75 s into the next step", v, Measuring)
	v = play(tr, 9250*time.Millisecond, 9250*time.Millisecond, next)
	wantMain(t, "3 s into the next step", v, SenderCore)
}

// The core of a finding may change without it starting over.
func TestTrackerFollowsTheThread(t *testing.T) {
	tr := NewTracker()
	play(tr, 0, 5*time.Second, full1)
	moved := base(far(.1, .1), cores(engine.Local, .1, .98, .1, .1), thread(engine.Local, "lr-tx-1", engine.Upload, 1, .98))
	v := play(tr, 5250*time.Millisecond, 5250*time.Millisecond, moved)
	wantMain(t, "after the move", v, SenderCore)
	if v.Main.Core != 1 || v.Main.Since != 3*time.Second {
		t.Errorf("got core %d since %v, want core 1 since 3s", v.Main.Core, v.Main.Since)
	}
}

// Standing still is said at once: the sentence is about the last seconds.
func TestTrackerStandStill(t *testing.T) {
	tr := NewTracker()
	play(tr, 0, 5*time.Second, nothing)
	v := play(tr, 5250*time.Millisecond, 5250*time.Millisecond, base(far(.1, .1), idleFor(3*time.Second)))
	wantMain(t, "3 s without payload", v, StandStill)
	v = play(tr, 5500*time.Millisecond, 7500*time.Millisecond, nothing)
	wantMain(t, "when payload moves again", v, NoCause)
}

func TestTrackerUnknownFarSideIsNoVerdictBesideOthers(t *testing.T) {
	stock := base(cores(engine.Local, .1, .1, .98, .1), thread(engine.Local, "lr-tx-1", engine.Upload, 2, .98))
	v := play(NewTracker(), 0, 8*time.Second, stock)
	wantMain(t, "R10 against stock", v, SenderCore)
	wantAlso(t, "R10 against stock", v, FarUnknown)
	v = play(NewTracker(), 0, 8*time.Second, base())
	wantMain(t, "nothing against stock", v, FarUnknown)
	wantAlso(t, "nothing against stock", v)
	v = play(NewTracker(), 0, 8*time.Second, base(rateOf(engine.Upload, 9.41e9)))
	wantMain(t, "line rate against stock", v, LineRate)
	wantAlso(t, "line rate against stock", v)
}

func TestJudge(t *testing.T) {
	// A full computer is one finding, though both directions suffer from it.
	e := base(direction(engine.Both), cores(engine.Local, 1, 1), func(e *Evidence) { e.Ends[engine.Local].Process = probes.Got(1.8) })
	n := 0
	for _, f := range Judge(e) {
		if f.Code == AllCoresFull {
			n++
			if f.Dir != engine.Both {
				t.Errorf("direction %v, want both", f.Dir)
			}
		}
	}
	if n != 1 {
		t.Errorf("%d findings %s, want 1", n, AllCoresFull)
	}
	// Each direction has a verdict of its own.
	verdicts := NewTracker().Update(0, e)
	if len(verdicts) != 2 || verdicts[0].Dir != engine.Upload || verdicts[1].Dir != engine.Download {
		t.Errorf("got verdicts %+v, want upload and download", verdicts)
	}
	// Nothing at all is an answer too.
	if all := Judge(Evidence{}); len(all) != 1 || all[0].Code != Measuring {
		t.Errorf("empty evidence: got %+v, want %s", all, Measuring)
	}
	// Every rule answers in a review, in the order of the list.
	checks := Review(e, engine.Download)
	if len(checks) != len(rules) {
		t.Fatalf("review has %d answers for %d rules", len(checks), len(rules))
	}
	for i, c := range checks {
		if c.Code != rules[i].code || c.Dir != engine.Download || c.Why == "" {
			t.Errorf("answer %d: %+v", i, c)
		}
	}
}

// The path is not judged while the rate ramps up, and losses at the begin say nothing.
func TestTrackerWaitsForThePath(t *testing.T) {
	tr := NewTracker()
	for at := time.Duration(0); at <= 12*time.Second; at += 250 * time.Millisecond {
		e := lossy(func(e *Evidence) { e.Test.Age = at })
		v := tr.Update(at, e)[0]
		for _, f := range append(v.Also, v.Main) {
			if f.Code == RandomLoss && at < settledAfter+settle {
				t.Fatalf("at %v: the path is judged already", at)
			}
		}
		if at >= settledAfter+settle && v.Main.Code != RandomLoss {
			t.Fatalf("at %v: got %s, want %s", at, v.Main.Code, RandomLoss)
		}
	}
}

// Each family is asked in its turn: of two sure findings the earlier one is the verdict.
func TestOrderOfFamilies(t *testing.T) {
	// From last to first: each edit adds a cause of an earlier family to a flow that the
	// later ones hold back too.
	steps := []struct {
		code string
		edit func(*Evidence)
	}{
		{DiskCeiling, func(e *Evidence) {
			disk(local, "ssd", 4.4*gig)(e)
			memoryOnly(9.4 * gig)(e)
			diskBusy(local, 545e6, 0)(e)
		}},
		{RandomLoss, func(e *Evidence) {
			rateOf(up, 8.95e6)(e)
			sender(up, windows(wide(40*ms, 41*ms), lost(11831, 13, 0), by(cubic), peerWindow(45000)))(e)
		}},
		{ReceiveWindow, func(e *Evidence) {
			again(up, limitedBy(.5, 0))(e)
			receiver(up, buffers(engine.SockMem{RcvBuf: 90000}))(e)
			setting(farEnd, "net.ipv4.tcp_rmem", "4096 8192 90000")(e)
		}},
		{RingOverflow, func(e *Evidence) {
			linked(farEnd, probes.Counters{"rx_missed_errors": 400, "rx_packets": 1e6})(e)
			rings(farEnd, 256, 4096)(e)
		}},
		{CPUQuota, throttled(local, time.Second)},
		{OtherPrograms, func(e *Evidence) { cores(local, 1, 1)(e); e.Ends[local].Process = probes.Got(.1) }},
		{DamagedFrames, linked(local, probes.Counters{"rx_crc_errors": 50, "rx_packets": 1e6})},
		{LinkBelow, card(local, gig, []float64{gig, 10 * gig}, []float64{gig, 10 * gig})},
	}
	e := base(quietFar)
	for _, s := range steps {
		s.edit(&e)
		v := Verdicts(e)[0]
		if v.Main.Code != s.code {
			t.Errorf("with %s: got %s %q", s.code, v.Main.Code, v.Main.Text)
		}
	}
}

// A cause takes the place of what it explains: nothing moves in a black hole, so no busy
// core comes before it.
func TestCauseTakesThePlaceOfItsSymptom(t *testing.T) {
	busy := func(e *Evidence) { cores(local, 1, 1)(e); e.Ends[local].Process = probes.Got(.1) }
	v := Verdicts(base(busy, mtu(local, 9000), stuckFlow(up, 8*time.Second), swept(4074, true)))[0]
	if v.Main.Code != BlackHole || len(v.Also) == 0 || v.Also[0].Code != OtherPrograms {
		t.Errorf("got %s, also %v, want R43, also R19b", v.Main.Code, codesOf(v.Also))
	}
}

// What its cause explains is not said beside it.
func TestSymptomsAreHidden(t *testing.T) {
	tests := []struct {
		name          string
		e             Evidence
		dir           engine.Direction
		cause, hidden string
	}{
		{"drops of the own queue look like random loss", lossy(qdiscs(local, probes.Qdisc{Kind: "pfifo_fast", Dropped: 13})), up, QdiscDrops, RandomLoss},
		{"a user program's stack knows no window scaling", base(nic(local, func(n *probes.NIC) { n.Name, n.Kind, n.MTU = "tap0", probes.Got("tap"), probes.Got(65520) }), sender(up, func(w *StreamWindow) { w.Now.Options, w.Now.SndWnd = 1, 65535 })), up, UserStack, UnscaledWindow},
		{"offloads off fill the cores", cut(cores(local, .97, .98), func(e *Evidence) { e.Ends[local].Process = probes.Got(1.5) }), up, OffloadsOff, AllCoresFull},
		{"a late reader has its queue squeezed", smallWindow(again(up, limitedBy(.9, 0)), receiver(up, buffers(engine.SockMem{RmemAlloc: 99, RcvBuf: 100})), tcp(farEnd, probes.Counters{"TcpExt.TCPRcvCollapsed": 9})), up, LateReader, MemoryPressure},
		{"a full disk makes a late reader", smallWindow(again(up, limitedBy(.9, 0)), receiver(up, buffers(engine.SockMem{RmemAlloc: 99, RcvBuf: 100})), disk(farEnd, "hdd", 64e6), diskBusy(farEnd, 8e6, 0), memoryOnly(gig)), up, DiskCeiling, LateReader},
		{"a shaper's rate flows, however busy the cores", base(rateOf(up, 478e6), cores(local, 1, .99), qdiscs(local, probes.Qdisc{Kind: "tbf", RateBps: 500e6})), up, OwnShaper, AllCoresFull},
		{"a black hole stands still", base(mtu(local, 9000), stuckFlow(up, 8*time.Second), swept(4074, true)), up, BlackHole, StandStill},
	}
	for _, tt := range tests {
		held := map[string]bool{}
		for _, f := range Judge(tt.e) {
			held[f.Code] = true
		}
		if !held[tt.cause] || !held[tt.hidden] {
			t.Errorf("%s: %s and %s do not both hold: %v", tt.name, tt.cause, tt.hidden, held)
		}
		v := Verdicts(tt.e)[0]
		shown := append([]engine.Finding{v.Main}, v.Also...)
		codes := make([]string, len(shown))
		for i, f := range shown {
			codes[i] = f.Code
		}
		if !slices.Contains(codes, tt.cause) || slices.Contains(codes, tt.hidden) {
			t.Errorf("%s: shows %v, want %s and no %s", tt.name, codes, tt.cause, tt.hidden)
		}
	}
}

// Without traffic the set-up alone is judged, and an answer there is always.
func TestWithoutTraffic(t *testing.T) {
	e := base(idleTest, direction(engine.Both), card(local, .1*gig, []float64{.1 * gig, gig}, nil), slot(local, 2.5, 1, .2*gig),
		clocked(local, "powersave", "acpi-cpufreq", 3.8e9), channels(local, 1), lro(local, true), setting(local, "net.ipv4.ip_forward", "1"),
		nic(local, func(n *probes.NIC) { n.Duplex = probes.Got("half") }))
	want := []string{LinkBelow, HalfDuplex, BusCeiling, SlowClock, SingleQueue, MergingForwarder}
	got := map[string]bool{}
	for _, f := range Judge(e) {
		got[f.Code] = true
		checkFinding(t, "idle "+f.Code, f)
	}
	for _, code := range want {
		if !got[code] {
			t.Errorf("%s is missing among %v", code, got)
		}
	}
	if got[Measuring] || got[FarUnknown] || got[StandStill] {
		t.Errorf("answers about traffic: %v", got)
	}
	clean := base(idleTest)
	if v := Verdicts(clean); len(v) != 1 || v[0].Main.Code != NoCause || v[0].Main.Text != "Nothing that can be seen without traffic would slow a transfer down." {
		t.Errorf("got %+v", v)
	}
	silent := base(idleTest, func(e *Evidence) {
		e.Path.Dest = netip.MustParseAddr("192.0.2.7")
		e.Path.RTT.Idle = probes.Unknown[time.Duration](probes.Absent, "the host answers no probe")
		e.Path.MTU.Out = probes.Unknown[int](probes.Absent, "the host answers no probe")
	})
	if v := Verdicts(silent); len(v) != 1 || v[0].Main.Code != NoCause || !strings.HasPrefix(v[0].Main.Text, "The host has answered no probe") {
		t.Errorf("of a host that is silent: %+v", v)
	}
	for _, c := range Review(clean, up) {
		if c.Code == RandomLoss && c.State != Unseen {
			t.Errorf("%s without traffic: %v", c.Code, c.State)
		}
	}
}
