package session

import (
	"context"
	"testing"
	"time"

	"linerate/engine"
	"linerate/engine/diagnose"
	"linerate/engine/iperf"
	"linerate/probes"
)

// tried is a proof that is complete: rates in bits/s.
func tried(action engine.Proof, before, after float64, more ...func(*proof)) *proof {
	p := &proof{
		finding: engine.Finding{Press: "+", Severity: engine.SeverityLimit, Confidence: engine.Sure},
		trial:   trial{words: "it"},
		before:  pace{rate: before}, after: pace{rate: after},
	}
	p.Action, p.Back.Streams = action, 1
	for _, change := range more {
		change(p)
	}
	return p
}

func code(c string) func(*proof) { return func(p *proof) { p.Code = c } }

// from makes the test that a proof goes back to.
func from(dir engine.Direction, streams int) func(*proof) {
	return func(p *proof) { p.Back.Direction, p.Back.Streams = dir, streams }
}

func addsNothing(p *proof) { p.finding.Press = "" }

func noCause(p *proof) {
	p.finding.Severity, p.finding.Confidence = engine.SeverityOK, engine.Unsure
}

func otherWay(p *proof) {
	p.trial.from, p.trial.in, p.trial.words = engine.Upload, engine.Download, "download alone"
}

func loss(before, after float64) func(*proof) {
	return func(p *proof) {
		p.before.loss, p.after.loss = probes.Got(before), probes.Got(after)
		p.before.segments, p.after.segments = 1e5, 1e5
	}
}

func lossUnseen(p *proof) {
	p.after.loss = probes.Unknown[float64](probes.Absent, "only the sender, the far end, knows")
}

func fewSegments(p *proof) { p.after.segments = 100 }

func delays(before, after time.Duration) func(*proof) {
	return func(p *proof) { p.before.queue, p.after.queue = probes.Got(before), probes.Got(after) }
}

func TestShowed(t *testing.T) {
	const (
		open = engine.Undecided
		yes  = engine.Proven
		no   = engine.Doubtful
		ms   = time.Millisecond
	)
	for name, test := range map[string]struct {
		p      *proof
		answer engine.ProofAnswer
		text   string
	}{
		"a second stream doubles": {tried("+", 5e9, 9.1e9), yes, "it gave 9.10 Gbit/s, +82 %: the limit is per stream: proven"},
		"just enough":             {tried("+", 5e9, 6.01e9), yes, "it gave 6.01 Gbit/s, +20 %: the limit is per stream: proven"},
		"not quite":               {tried("+", 5e9, 5.95e9), open, "it gave 5.95 Gbit/s, +19 %: a little more, which does not tell"},
		"nothing":                 {tried("+", 5e9, 5.05e9), no, "it gave 5.05 Gbit/s, ±1 %: not a per-stream limit: the verdict is doubtful"},
		"nothing, and more loss": {tried("+", 5e9, 5e9, loss(1e-4, 1e-3)), no,
			"it gave 5.00 Gbit/s, ±0 %: not a per-stream limit, and loss rose to 0.1 %: the path is full: the verdict is doubtful"},
		"one of eight":               {tried("+", 8e9, 8.6e9, from(engine.Upload, 8)), yes, "it gave 8.60 Gbit/s, +7 %: the limit is per stream: proven"},
		"one of eight, half of that": {tried("+", 8e9, 8.3e9, from(engine.Upload, 8)), open, "it gave 8.30 Gbit/s, +4 %: a little more, which does not tell"},
		"nothing is expected":        {tried("+", 9.4e9, 9.4e9, addsNothing), yes, "it gave 9.40 Gbit/s, ±0 %: more streams add nothing: proven"},
		"less":                       {tried("+", 9.4e9, 8e9, addsNothing), yes, "it gave 8.00 Gbit/s, -15 %: more streams only get in each other's way: proven"},
		"more than expected":         {tried("+", 9.4e9, 12e9, addsNothing), no, "it gave 12.0 Gbit/s, +28 %: another stream does help: the verdict is doubtful"},
		"no cause, helps":            {tried("+", 1e9, 2e9, noCause), open, "it gave 2.00 Gbit/s, +100 %: the limit is per stream"},
		"no cause, does not":         {tried("+", 1e9, 1e9, noCause), open, "it gave 1.00 Gbit/s, ±0 %: not a per-stream limit"},
		"nothing moved before":       {tried("+", 0, 1e9), yes, "it gave 1.00 Gbit/s, nothing before: the limit is per stream: proven"},
		"nothing moved at all":       {tried("+", 0, 0), no, "it gave 0 bit/s, ±0 %: not a per-stream limit: the verdict is doubtful"},
		"one direction of two": {tried("+", 5e9, 9e9, from(engine.Both, 1), func(p *proof) {
			p.trial.in, p.trial.spec.Direction = engine.Download, engine.Both
		}), yes, "it gave 9.00 Gbit/s download, +80 %: the limit is per stream: proven"},

		"reverse is fast":   {tried("R", 200e6, 940e6, otherWay), yes, "download alone gave 940 Mbit/s, upload 200 Mbit/s: only upload is slow: proven"},
		"reverse is alike":  {tried("R", 900e6, 940e6, otherWay), no, "download alone gave 940 Mbit/s, upload 900 Mbit/s: both directions are alike: the verdict is doubtful"},
		"reverse is slower": {tried("R", 900e6, 100e6, otherWay), no, "download alone gave 100 Mbit/s, upload 900 Mbit/s: the other direction is slower still: the verdict is doubtful"},
		"reverse, half duplex": {tried("R", 90e6, 91e6, otherWay, code(diagnose.HalfDuplex)), open,
			"download alone gave 91.0 Mbit/s, upload 90.0 Mbit/s: alike one at a time; it is both at once that half duplex slows"},
		"reverse stands still too": {tried("R", 0, 0, otherWay, code(diagnose.StandStill)), open,
			"download alone moves nothing either: the far end or the whole path stands still"},
		"a queue in this direction": {tried("R", 47e6, 90e6, otherWay, code(diagnose.Bufferbloat)), yes,
			"download alone gave 90.0 Mbit/s, upload 47.0 Mbit/s: room for the acknowledgements of 5.01 Gbit/s, the queue stands in upload: proven"},
		"a queue of acknowledgements": {tried("R", 31e6, 0.5e6, otherWay, code(diagnose.AckCongestion)), yes,
			"download alone gave 500 kbit/s, upload 31.0 Mbit/s: its acknowledgements allow only 27.8 Mbit/s: proven"},
		"no queue of acknowledgements": {tried("R", 31e6, 90e6, otherWay, code(diagnose.AckCongestion)), no,
			"download alone gave 90.0 Mbit/s, upload 31.0 Mbit/s: room for the acknowledgements of 5.01 Gbit/s, the queue stands in upload: the verdict is doubtful"},
		"half duplex both ways": {tried("R", 40e6, 90e6, from(engine.Both, 1)), yes,
			"upload alone gave 90.0 Mbit/s, with both ways 40.0 Mbit/s: the two hinder each other: proven"},

		"alone recovers": {tried("one-way", 2.3e6, 980e6, from(engine.Both, 1)), yes,
			"upload alone gave 980 Mbit/s, with both ways 2.30 Mbit/s: the two hinder each other: proven"},
		"alone the same": {tried("one-way", 900e6, 940e6, from(engine.Both, 1)), no,
			"upload alone gave 940 Mbit/s, with both ways 900 Mbit/s: the other direction costs it nothing: the verdict is doubtful"},
		"alone a little more": {tried("one-way", 700e6, 940e6, from(engine.Both, 1)), open,
			"upload alone gave 940 Mbit/s, with both ways 700 Mbit/s: a little more, which does not tell"},
		"now alone, both tried": {tried("one-way", 980e6, 2.3e6), yes,
			"upload alone gave 980 Mbit/s, with both ways 2.30 Mbit/s: the two hinder each other: proven"},

		"bbr frees it": {tried("congestion", 8.9e6, 265e6, code(diagnose.RandomLoss)), yes,
			"it gave 265 Mbit/s, 30 times as much: single losses held it back: proven"},
		"bbr does not": {tried("congestion", 8.9e6, 9e6, code(diagnose.RandomLoss)), no,
			"it gave 9.00 Mbit/s, ±1 %: not for the congestion control: the verdict is doubtful"},
		"bbr, somewhat": {tried("congestion", 100e6, 130e6, code(diagnose.RandomLoss)), open,
			"it gave 130 Mbit/s, +30 %: somewhat more, which does not tell"},
		"cubic after bbr": {tried("congestion", 100e6, 180e6, code(diagnose.Paced)), yes,
			"it gave 180 Mbit/s, +80 %: the congestion control held it back: proven"},
		"reordering": {tried("congestion", 100e6, 101e6, code(diagnose.Reordering)), open, "it gave 101 Mbit/s, ±1 %: the false alarms cost little"},
		"bbr drains the queue": {tried("congestion", 47e6, 45e6, code(diagnose.Bufferbloat), delays(268*ms, 12*ms)), yes,
			"it gave 45.0 Mbit/s, -4 %, and the queue adds 12.0 ms instead of 268 ms: the sender filled it: proven"},
		"bbr does not drain it": {tried("congestion", 47e6, 45e6, code(diagnose.Bufferbloat), delays(268*ms, 260*ms)), no,
			"it gave 45.0 Mbit/s, -4 %, and the queue adds 260 ms instead of 268 ms: another sender fills it: the verdict is doubtful"},
		"bbr is slower": {tried("congestion", 47e6, 20e6, code(diagnose.Bufferbloat), delays(268*ms, 12*ms)), open,
			"it gave 20.0 Mbit/s, -57 %, and the queue adds 12.0 ms instead of 268 ms: at a lower rate, which does not tell"},
		"the queue is unseen": {tried("congestion", 47e6, 45e6, code(diagnose.Bufferbloat), func(p *proof) {
			p.before.queue = probes.Unknown[time.Duration](probes.Absent, "only the sender, the far end, knows")
		}), open, "it gave 45.0 Mbit/s, -4 %: the queue cannot be seen: only the sender, the far end, knows"},

		"policed": {tried("rate-95", 50e6, 47.5e6, loss(0.02, 0)), yes,
			"at 47.5 Mbit/s, 95 % of the rate, loss is none instead of 2 %: it depends on the rate: proven"},
		"random loss goes on": {tried("rate-95", 50e6, 47.5e6, loss(0.0014, 0.0012)), no,
			"at 47.5 Mbit/s, 95 % of the rate, loss is 0.12 % instead of 0.14 %: it does not depend on the rate: the verdict is doubtful"},
		"less loss": {tried("rate-95", 50e6, 47.5e6, loss(0.01, 0.004)), open,
			"at 47.5 Mbit/s, 95 % of the rate, loss is 0.4 % instead of 1 %: less, which does not tell"},
		"no loss before": {tried("rate-95", 50e6, 47.5e6, loss(0, 0)), open, "at 47.5 Mbit/s, 95 % of the rate, loss is none, and there was none before either"},
		"too few segments": {tried("rate-95", 5e5, 4.7e5, loss(0.001, 0), fewSegments), open,
			"at 470 kbit/s, 95 % of the rate, loss is none; with 0.1 % before that is too few segments to tell"},
		"loss unseen": {tried("rate-95", 50e6, 47.5e6, loss(0.01, 0), lossUnseen), open,
			"at 47.5 Mbit/s, 95 % of the rate, the loss cannot be seen: only the sender, the far end, knows"},
		"the rate is missed": {tried("rate-95", 50e6, 20e6, loss(0.01, 0.01)), no,
			"at 20.0 Mbit/s of the asked 95 % loss is 1 % instead of 1 %: it does not depend on the rate: the verdict is doubtful"},

		"another core helps":    {tried("pin", 7e9, 9e9), yes, "it gave 9.00 Gbit/s, +29 %: the core was the limit: proven"},
		"another core does not": {tried("pin", 7e9, 7.1e9), no, "it gave 7.10 Gbit/s, ±1 %: not for the core: the verdict is doubtful"},
		"another core, a bit":   {tried("pin", 7e9, 7.5e9), open, "it gave 7.50 Gbit/s, +7 %: a little more, which does not tell"},
	} {
		if answer, text := test.p.showed(); answer != test.answer || text != test.text {
			t.Errorf("%s: %v, %q\nwant %v, %q", name, answer, text, test.answer, test.text)
		}
	}
}

func TestSizeShowed(t *testing.T) {
	none := probes.Unknown[int](probes.Absent, "not swept")
	for name, test := range map[string]struct {
		dir    engine.Direction
		mtu    probes.PathMTU
		answer engine.ProofAnswer
		text   string
	}{
		"black hole": {engine.Upload, probes.PathMTU{Out: probes.Got(4074), BlackHole: true, Reported: none}, engine.Proven,
			"packets above 4074 bytes vanish in upload without a word: proven"},
		"a router tells": {engine.Upload, probes.PathMTU{Out: probes.Got(1500), Reported: probes.Got(1500)}, engine.Proven,
			"packets of up to 1500 bytes pass in upload, and a router says so: the path is narrower, proven"},
		"the whole MTU": {engine.Upload, probes.PathMTU{Out: probes.Got(9000), Reported: none}, engine.Doubtful,
			"packets of 9000 bytes, the whole MTU, pass in upload: the verdict is doubtful"},
		"the way back": {engine.Download, probes.PathMTU{Out: probes.Got(9000), In: probes.Got(1500), Reported: none}, engine.Proven,
			"packets of up to 1500 bytes pass in download, no larger ones, as the far end has found: proven"},
		"a black hole on the way back": {engine.Download, probes.PathMTU{Out: probes.Got(9000), Reported: none, In: probes.Got(4074), InBlackHole: true, InReported: none}, engine.Proven,
			"packets above 4074 bytes vanish in download without a word, as the far end has found: proven"},
		"a router on the way back tells": {engine.Download, probes.PathMTU{Out: probes.Got(4074), BlackHole: true, In: probes.Got(1500), InReported: probes.Got(1500)}, engine.Proven,
			"packets of up to 1500 bytes pass in download, as the far end has found, and a router says so: the path is narrower, proven"},
		"the way back takes all": {engine.Download, probes.PathMTU{Out: probes.Got(4074), BlackHole: true, In: probes.Got(9000), InReported: none}, engine.Doubtful,
			"packets of 9000 bytes, the whole MTU, pass in download, as the far end has found: the verdict is doubtful"},
		"the way back unseen": {engine.Download, probes.PathMTU{Out: probes.Got(1500), In: none}, engine.Undecided,
			"the way back could not be swept: not swept"},
		"nothing": {engine.Upload, probes.PathMTU{Out: none}, engine.Undecided, "no size was found: not swept"},
	} {
		if answer, text := sizeShowed(test.dir, test.mtu, probes.Got(9000)); answer != test.answer || text != test.text {
			t.Errorf("%s: %v, %q\nwant %v, %q", name, answer, text, test.answer, test.text)
		}
	}
}

func TestPickCore(t *testing.T) {
	cores := func(busy ...float64) probes.Reading[[]probes.CoreLoad] {
		var all []probes.CoreLoad
		for i, b := range busy {
			all = append(all, probes.CoreLoad{Core: i, System: b, Idle: 1 - b})
		}
		return probes.Got(all)
	}
	for name, test := range map[string]struct {
		all               probes.Reading[[]probes.CoreLoad]
		near, interrupted []int
		want              int
		why               string
	}{
		"the idlest":            {cores(1, .2, .1, .3), nil, nil, 2, ""},
		"near the card":         {cores(1, .2, .1, .3), []int{0, 3}, nil, 3, ""},
		"without interrupts":    {cores(1, .2, .1, .3), nil, []int{2}, 1, ""},
		"interrupts everywhere": {cores(1, .2, .1, .3), nil, []int{0, 1, 2, 3}, 2, ""},
		"just free":             {cores(1, .3), nil, nil, 1, ""},
		"none free":             {cores(1, .31), nil, nil, -1, "no core is free: the least busy, core 1, is at 31 %"},
		"unknown":               {probes.Unknown[[]probes.CoreLoad](probes.Unsupported, "not without cgo"), nil, nil, -1, "no free core can be chosen: not without cgo"},
	} {
		if got, why := pickCore(test.all, test.near, test.interrupted); got != test.want || why != test.why {
			t.Errorf("%s: core %d, %q; want %d, %q", name, got, why, test.want, test.why)
		}
	}
}

func TestWhatIsNotBuilt(t *testing.T) {
	for _, action := range []engine.Proof{engine.ProofDiscard, engine.ProofUDP} {
		if engine.ProofMissing(action) == "" {
			t.Errorf("%s: no word that this version cannot do it", action)
		}
	}
	for _, action := range []engine.Proof{engine.ProofAddStream, engine.ProofReverse, engine.ProofOneWay, engine.ProofCongestion, engine.ProofRate95, engine.ProofPin, engine.ProofMTU} {
		if why := engine.ProofMissing(action); why != "" {
			t.Errorf("%s: %s", action, why)
		}
	}
}

func TestTrials(t *testing.T) {
	var s trial
	s.spec.Streams = engine.MaxStreams
	if s.addStream() == "" {
		t.Error("129 streams are not refused")
	}
	s.spec.Streams = 4
	if why := s.slowDown(2); why == "" {
		t.Error("2 bit/s over 4 streams are paced")
	}
	if why := s.slowDown(40e6); why != "" || s.spec.Bitrate != 9.5e6 || s.spec.FQRate != 10e6 {
		t.Errorf("40 Mbit/s over 4 streams: -b %v, --fq-rate %v, %q", s.spec.Bitrate, s.spec.FQRate, why)
	}
	for _, test := range []struct {
		action   engine.Proof
		of, now  engine.Direction
		then     engine.Direction // of the trial
		from, in engine.Direction
	}{
		{engine.ProofReverse, engine.Upload, engine.Upload, engine.Download, engine.Upload, engine.Download},
		{engine.ProofReverse, engine.Download, engine.Both, engine.Upload, engine.Download, engine.Upload},
		{engine.ProofReverse, engine.Both, engine.Both, engine.Upload, engine.Upload, engine.Upload},
		{engine.ProofOneWay, engine.Download, engine.Both, engine.Download, engine.Download, engine.Download},
		{engine.ProofOneWay, engine.Download, engine.Download, engine.Both, engine.Download, engine.Download},
	} {
		f := engine.Finding{Proof: test.action, Dir: test.of}
		from, in := ways(&f, test.now)
		got := trial{spec: engine.Spec{Direction: test.now}}
		got.turn(&f)
		if got.spec.Direction != test.then || from != test.from || in != test.in {
			t.Errorf("%s of %v while %v flows: %v, compared %v with %v; want %v, %v with %v", test.action, test.of, test.now,
				got.spec.Direction, from, in, test.then, test.from, test.in)
		}
	}
}

// counted is a sending stream at one moment.
func counted(dir engine.Direction, sent, again uint32, rtt time.Duration) stream {
	var s stream
	s.Dir, s.Sender = dir, true
	s.TCP = probes.Got(engine.TCPInfo{Size: engine.InfoRTO, DataSegsOut: sent, TotalRetrans: again, RTT: rtt, MinRTT: 20 * time.Millisecond})
	return s
}

func TestGauge(t *testing.T) {
	var g gauge
	m := &meter{}
	if _, ok := g.since(0, engine.Upload); ok {
		t.Error("an empty gauge measures")
	}
	at := func(seconds int, up, down uint64, sent, again uint32) {
		m.dirs[0].bytes, m.dirs[1].bytes = up, down
		m.streams = []stream{counted(engine.Upload, sent, again, 30*time.Millisecond), {Counters: engine.Counters{Conn: engine.Conn{Dir: engine.Download}}}}
		g.add(time.Duration(seconds)*time.Second, m)
	}
	for i := range 60 { // 8 Mbit/s up, 16 down; from second 50 on one of 100 segments is lost
		lost := uint32(max(0, i-50))
		at(i, uint64(i)*1e6, uint64(i)*2e6, uint32(i)*100, lost)
	}
	if n := len(g.marks); n != gaugeKept {
		t.Errorf("%d marks are kept, want %d", n, gaugeKept)
	}
	up, ok := g.since(52*time.Second, engine.Upload)
	if !ok || up.rate != 8e6 || up.span != 7*time.Second || up.loss.Value != 0.01 || up.segments != 700 || up.queue.Value != 10*time.Millisecond {
		t.Errorf("up: %v, %+v", ok, up)
	}
	down, ok := g.since(52*time.Second, engine.Download)
	if !ok || down.rate != 16e6 || down.loss.Known() || down.queue.Known() || down.loss.Why() == "" {
		t.Errorf("down: %v, %+v", ok, down)
	}
	if both, ok := g.since(52*time.Second, engine.Both); !ok || both.rate != 24e6 || both.loss.Known() {
		t.Errorf("both: %v, %+v", ok, both)
	}
	if _, ok := g.since(59*time.Second, engine.Upload); ok {
		t.Error("a single mark measures")
	}
}

func TestLossOfResults(t *testing.T) {
	r := &engine.Result{Streams: []engine.StreamResult{{
		Conn: engine.Conn{Dir: engine.Download}, Sent: probes.Got(engine.End{Bytes: 1448e3}), Retransmits: probes.Got(uint64(5)),
	}}}
	r.Info.MSS = 1448
	if got, segments := lossOf(r, engine.Download); got.Value != 0.005 || segments != 1000 {
		t.Errorf("%+v of %v segments, want 0.5 %% of 1000", got, segments)
	}
	r.Streams[0].Retransmits = probes.Unknown[uint64](probes.Absent, "not told")
	if got, _ := lossOf(r, engine.Download); got.Known() || got.Why() != "not told" {
		t.Errorf("without a count: %+v", got)
	}
	if got, _ := lossOf(&engine.Result{}, engine.Download); got.Known() {
		t.Errorf("without streams: %+v", got)
	}
}

// A verdict whose proof this version cannot do gets a sentence and no step.
func TestProofOfWhatIsNotBuilt(t *testing.T) {
	test := newSteady(time.Now(), 1)
	s := New(Config{
		Spec: engine.Spec{Host: "server", Streams: 1}, Host: newSteadyHost(2, 1),
		Start: func(context.Context, engine.Spec, iperf.Options) (Test, error) { return test, nil },
	})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := newConductor(ctx, s)
	c.open(plan{spec: c.spec, change: "start"})
	c.onOpened(<-c.opened)
	c.opinion.verdicts = []engine.Verdict{{Main: engine.Finding{Code: diagnose.LateReader, Proof: engine.ProofDiscard}}}
	if err := c.do(engine.Prove{}); err != nil {
		t.Fatal(err)
	}
	if p := c.proof.Proving; p.Phase != engine.ProofOver || p.Showed != engine.ProofMissing(engine.ProofDiscard) || c.stage != flowing {
		t.Errorf("%+v, stage %v", p, c.stage)
	}
	cancel()
	c.wg.Wait()
}
