package diagnose

import (
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// Public experiments and lab runs with known causes: the numbers are theirs, the
// verdict must be the one their authors found (or, in the baseline, none that is sure).
func TestCases(t *testing.T) {
	const up, down, both = engine.Upload, engine.Download, engine.Both
	// A mini-PC with an N100 (4 cores) and two 10G ports, tested with MTU 1500.
	n100 := func(edits ...func(*Evidence)) Evidence { return base(edits...) }
	tests := []struct {
		name string
		e    Evidence
		want map[engine.Direction]string // main code after 10 s
		text map[engine.Direction]string
		not  []string // codes that must not appear at all
	}{
		{
			"N100, one stream up: 9.41",
			n100(rateOf(up, 9.41e9), cores(engine.Local, .08, .62, .05, .06), thread(engine.Local, "lr-tx-1", up, 1, .55)),
			map[engine.Direction]string{up: LineRate},
			map[engine.Direction]string{up: "Line rate: 9.41 of 9.415 Gbit/s possible with MTU 1500; MTU 9000 would allow 9.90 Gbit/s."},
			[]string{SenderCore, ReceiverCore, FarOneThread},
		},
		{
			"N100, one stream each way: TX 9.40, RX 6.51, whole CPU about 30 %, one core at 100 %",
			n100(direction(both), rateOf(up, 9.40e9), rateOf(down, 6.51e9),
				cores(engine.Local, .07, .06, 1, .08),
				thread(engine.Local, "lr-tx-1", up, 0, .05),
				thread(engine.Local, "lr-rx-3", down, 2, .99)),
			map[engine.Direction]string{up: LineRate, down: ReceiverCore},
			map[engine.Direction]string{up: "9.40 of 9.415", down: "(core 2 at 100 %) while 3 sit idle: press +"},
			[]string{SenderCore, AllCoresFull, OtherPrograms},
		},
		{
			"N100, four streams each way: 9.40 and 9.40",
			n100(direction(both), streams(4), rateOf(up, 9.40e9), rateOf(down, 9.40e9),
				cores(engine.Local, .62, .58, .70, .66),
				thread(engine.Local, "lr-tx-1", up, 0, .2), thread(engine.Local, "lr-rx-3", down, 1, .35)),
			map[engine.Direction]string{up: LineRate, down: LineRate},
			nil,
			[]string{SenderCore, ReceiverCore, AllCoresFull, CoresBusy},
		},
		{
			// 10G BCM57800, MTU 1500: 7.24 Gbit/s, sender's process 21.7 %, receiver's 10.9 %.
			"baseline without a sure cause",
			base(rateOf(up, 7.24e9), blindCores(engine.Local), func(e *Evidence) {
				e.Ends[engine.Local].Process = probes.Got(.217)
				e.Ends[engine.Local].Threads = probes.Got([]Thread{{ThreadLoad: probes.ThreadLoad{TID: 1, Name: "lr-tx-1", System: .217}, Dir: up, Sends: true}})
			}, step(1, up, 7.24e9, .109)),
			map[engine.Direction]string{up: FarUnknown},
			map[engine.Direction]string{up: "the cores here are unknown too"},
			[]string{SenderCore, ReceiverCore, FarOneThread, LineRate},
		},
		{
			// L1: veth, one stream, 9.82 Gbit/s, no idle time on two cores, softirq 19 and
			// 22 %, fR .169, fS .093, application limited.
			"two full cores look like a full receive window",
			base(rateOf(up, 9.82e9), far(.1), func(e *Evidence) {
				e.Path.Ceiling = probes.Unknown[Ceiling](probes.Absent, "veth0 is veth: it has no line speed")
				e.Ends[engine.Local] = end(1, 1)
				e.Ends[engine.Local].Process = probes.Got(1.4)
			}, softirq(engine.Local, 0, .19, .81), softirq(engine.Local, 1, .22, .78), sender(up, func(w *StreamWindow) {
				w.Now.RwndLimited = time.Duration(.169 * float64(w.Now.BusyTime))
				w.Now.SndbufLimited = time.Duration(.093 * float64(w.Now.BusyTime))
				w.Now.RTT, w.Now.MinRTT, w.Now.TotalRetrans = 54*time.Microsecond, 3*time.Microsecond, 11
			})),
			map[engine.Direction]string{up: AllCoresFull},
			map[engine.Direction]string{up: "Both cores are full (100 % busy)"},
			[]string{OtherPrograms, LineRate},
		},
		{
			"L12: paced by --fq-rate 30M",
			base(rateOf(up, 28.7e6), cores(engine.Local, .05, .05), func(e *Evidence) { e.Test.Spec.FQRate = 30e6 }),
			map[engine.Direction]string{up: Paced}, nil, nil,
		},
		{
			"L12a: -b 20M",
			base(rateOf(up, 20.1e6), cores(engine.Local, .03, .03), func(e *Evidence) { e.Test.Spec.Bitrate = 20e6 }),
			map[engine.Direction]string{up: AskedRate}, nil, []string{Paced},
		},
		{
			"demo on two cores, one stream: both are busy",
			base(oneHost(.88, .71), rateOf(up, 34e9), thread(engine.Local, "lr-tx-1", up, 0, .85), thread(engine.Far, "lr-rx-1", up, 1, .65)),
			map[engine.Direction]string{up: CoresBusy},
			map[engine.Direction]string{up: "Both cores are busy (sending thread 85 %, receiving thread 65 %): another stream (+) may still help."},
			[]string{SenderCore, ReceiverCore, FarOneThread, LineRate, FarUnknown, AllCoresFull},
		},
		{
			"demo on two cores, sender above 95 %",
			base(oneHost(.97, .68), rateOf(up, 34e9), thread(engine.Local, "lr-tx-1", up, 0, .96), thread(engine.Far, "lr-rx-1", up, 1, .65)),
			map[engine.Direction]string{up: CoresBusy}, nil,
			[]string{SenderCore, FarOneThread},
		},
		{
			"demo on two cores, four streams: all full",
			base(oneHost(.99, .99), streams(4), rateOf(up, 73e9), step(2, up, 74e9, 0), func(e *Evidence) {
				e.Ends[engine.Local].Process = probes.Got(1.9)
			}, thread(engine.Local, "lr-tx-1", up, 0, .5), thread(engine.Far, "lr-rx-1", up, 1, .5)),
			map[engine.Direction]string{up: AllCoresFull},
			map[engine.Direction]string{up: "Both ends run on this computer. 4 streams gave −1 % over 2."},
			[]string{OtherPrograms, CoresBusy, FarOneThread},
		},
		{
			"demo with a simulated link, one stream of 2.5 Gbit/s",
			base(oneHost(.1, .1), rateOf(up, 2.5e9), func(e *Evidence) {
				e.Test.LinkBps, e.Test.StreamBps = 10e9, 2.5e9
				e.Path.Ceiling = probes.Got(SimulatedCeiling(10e9))
			}),
			map[engine.Direction]string{up: Paced}, nil, []string{AskedRate, CoresBusy},
		},
		{
			"demo with a simulated link, full",
			base(oneHost(.2, .2), streams(4), rateOf(up, 9.40e9), func(e *Evidence) {
				e.Test.LinkBps, e.Test.StreamBps = 10e9, 2.35e9
				e.Path.Ceiling = probes.Got(SimulatedCeiling(10e9))
			}),
			map[engine.Direction]string{up: LineRate}, nil, []string{AskedRate, CoresBusy, Paced},
		},
		{
			"another program burns both cores",
			base(rateOf(up, 3e9), cores(engine.Local, 1, 1), func(e *Evidence) { e.Ends[engine.Local].Process = probes.Got(.5) }),
			map[engine.Direction]string{up: OtherPrograms}, nil, nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tracker := NewTracker()
			var verdicts []engine.Verdict
			for at := time.Duration(0); at <= 10*time.Second; at += 500 * time.Millisecond {
				verdicts = tracker.Update(at, tt.e)
			}
			got := map[engine.Direction]string{}
			for _, v := range verdicts {
				got[v.Dir] = v.Main.Code
				if !strings.Contains(v.Main.Text, tt.text[v.Dir]) {
					t.Errorf("%v: got %q, want %q in it", v.Dir, v.Main.Text, tt.text[v.Dir])
				}
				checkFinding(t, tt.name, v.Main)
				for _, f := range append([]engine.Finding{v.Main}, v.Also...) {
					if slices.Contains(tt.not, f.Code) {
						t.Errorf("%v: %s must not appear: %s", v.Dir, f.Code, f.Text)
					}
				}
			}
			if len(got) != len(tt.want) {
				t.Errorf("got verdicts %v, want %v", got, tt.want)
			}
			for dir, want := range tt.want {
				if got[dir] != want {
					t.Errorf("%v: got %s, want %s", dir, got[dir], want)
				}
			}
		})
	}
}
