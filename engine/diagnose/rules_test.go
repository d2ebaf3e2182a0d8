package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"linerate/engine"
	"linerate/probes"
)

// answer gives one rule's answer, regardless of what other rules say.
func answer(t *testing.T, code string, e Evidence, dir engine.Direction) ruling {
	t.Helper()
	for i := range rules {
		if rules[i].code == code {
			return rules[i].ask(&e, dir, false)
		}
	}
	t.Fatalf("no rule %s", code)
	return ruling{}
}

// row asks one rule about one piece of evidence.
type row struct {
	code, name string
	e          Evidence
	dir        engine.Direction
	want       State
	text       string // part of the sentence, or of the reason
}

// Directions and sides as the rows write them.
const (
	up, down      = engine.Upload, engine.Download
	local, farEnd = engine.Local, engine.Far
)

// Every rule has a row that holds, one that stays just below the line, and one whose
// reading is missing: that one must say so and must not be taken for ruled out.
func TestRules(t *testing.T) {
	seen := map[string]map[State]bool{}
	for _, tt := range slices.Concat(coreRows(), physicalRows(), steeringRows(), withheldRows(), queueRows(), limitRows(), pathRows(), betweenRows(), platformRows(), outsideRows()) {
		got := answer(t, tt.code, tt.e, tt.dir)
		said := got.why
		if got.state == Holds {
			said = got.finding.Text
		}
		if got.state != tt.want || !strings.Contains(said, tt.text) {
			t.Errorf("%s, %s: got %v %q, want %v %q", tt.code, tt.name, got.state, said, tt.want, tt.text)
		}
		if got.state == Holds {
			checkFinding(t, tt.code+", "+tt.name, got.finding)
		} else if got.why == "" {
			t.Errorf("%s, %s: %v without a reason", tt.code, tt.name, got.state)
		}
		if seen[tt.code] == nil {
			seen[tt.code] = map[State]bool{}
		}
		seen[tt.code][got.state] = true
	}
	// These say nothing about a reading that could be missing.
	informational := map[string]bool{FarUnknown: true, NoCause: true, Measuring: true}
	for _, r := range rules {
		if s := seen[r.code]; !s[Holds] || !s[RuledOut] || !s[Unseen] && !informational[r.code] {
			t.Errorf("%s: the rows cover only %v", r.code, s)
		}
	}
}

// coreRows are the rules about cores and threads, pacing, the ramp, and the answers that
// are no cause.
func coreRows() []row {
	return []row{
		{LineRate, "9.41 of 9.415", base(rateOf(up, 9.41e9)), up, Holds,
			"Line rate: 9.41 of 9.415 Gbit/s possible with MTU 1500; MTU 9000 would allow 9.90 Gbit/s."},
		{LineRate, "just reached", base(rateOf(up, 9.28e9)), up, Holds, ""},
		{LineRate, "just below", base(rateOf(up, 9.27e9)), up, RuledOut, "9.27 of 9.415"},
		{LineRate, "more than possible", base(rateOf(up, 9.7e9)), up, RuledOut, "cannot be true"},
		{LineRate, "jumbo already", base(rateOf(up, 9.87e9), func(e *Evidence) {
			e.Path.Ceiling = probes.Got(NewCeiling(10e9, Framing{MTU: 9000, Family: 4, Timestamps: true}))
		}), up, Holds, "9.87 of 9.900 Gbit/s possible with MTU 9000."},
		{LineRate, "1G", base(rateOf(up, 941e6), func(e *Evidence) {
			e.Path.Ceiling = probes.Got(NewCeiling(1e9, Framing{MTU: 1500, Family: 4, Timestamps: true}))
		}), up, Holds, "941 of 941.5 Mbit/s"},
		{LineRate, "line speed unknown", base(rateOf(up, 9.41e9), func(e *Evidence) {
			e.Path.Ceiling = probes.Unknown[Ceiling](probes.Absent, "virtio has none")
		}), up, Unseen, "virtio has none"},
		{LineRate, "rate unknown", base(blindRate(up)), up, Unseen, "less than 1 s"},
		{LineRate, "simulated", base(rateOf(up, 9.41e9), func(e *Evidence) {
			e.Test.LinkBps = 10e9
			e.Path.Ceiling = probes.Got(SimulatedCeiling(10e9))
		}), up, Holds, "on the simulated link"},

		{SenderCore, "98 %, three idle", base(cores(local, .1, .1, .98, .05), thread(local, "lr-tx-1", up, 2, .98)), up, Holds,
			"One core is full of the sending thread (core 2 at 98 %) while 3 sit idle: press + for another stream."},
		{SenderCore, "one idle", base(cores(local, .98, .5), thread(local, "lr-tx-1", up, 0, .95)), up, Holds, "1 sits idle"},
		{SenderCore, "94 %", base(cores(local, .1, .1, .98, .05), thread(local, "lr-tx-1", up, 2, .94)), up, RuledOut, "94 %"},
		{SenderCore, "94 %, the rest of the core is its program's", base(cores(local, .1, .1, .99, .05), thread(local, "lr-tx-1", up, 2, .94), func(e *Evidence) { e.Ends[local].Process = probes.Got(.98) }), up, Holds, "core 2 at 99 %"},
		{SenderCore, "84 %, the rest of the core is its program's", base(cores(local, .1, .1, .99, .05), thread(local, "lr-tx-1", up, 2, .84), func(e *Evidence) { e.Ends[local].Process = probes.Got(.98) }), up, RuledOut, "84 %"},
		{SenderCore, "94 %, the rest of the core is another's", base(cores(local, .1, .1, .99, .05), thread(local, "lr-tx-1", up, 2, .94), func(e *Evidence) { e.Ends[local].Process = probes.Got(.94) }), up, RuledOut, "94 %"},
		{SenderCore, "no core free", base(cores(local, .98, .51), thread(local, "lr-tx-1", up, 0, .98)), up, RuledOut, "no other core"},
		{SenderCore, "close to the ceiling", base(rateOf(up, 8.6e9), cores(local, .98, .1), thread(local, "lr-tx-1", up, 0, .98)), up, RuledOut, "91 %"},
		{SenderCore, "wandering thread", base(cores(local, .3, .4, .4, .3), thread(local, "lr-tx-1", up, 2, .97)), up, Holds, "97 % of one, now core 2"},
		{SenderCore, "threads unknown", base(blindThreads(local)), up, Unseen, "hidepid"},
		{SenderCore, "cores unknown", base(thread(local, "lr-tx-1", up, 2, .98), blindCores(local)), up, Unseen, "cgo"},
		{SenderCore, "far sender", base(direction(down), far(.1, .99, .1), thread(farEnd, "lr-tx-1", down, 1, .99)), down, Holds, "(far core 1 at 99 %)"},
		{SenderCore, "far sender unknown", base(direction(down)), down, Unseen, "stock iperf3"},

		{ReceiverCore, "98 %", base(direction(down), cores(local, .1, .1, .1, .98), thread(local, "lr-rx-1", down, 3, .96)), down, Holds,
			"One core is full of the receiving thread (core 3 at 98 %) while 3 sit idle: press + for another stream."},
		{ReceiverCore, "94 %", base(direction(down), cores(local, .1, .1, .1, .96), thread(local, "lr-rx-1", down, 3, .94)), down, RuledOut, "94 %"},
		{ReceiverCore, "keeps up", base(direction(down), thread(local, "lr-rx-1", down, 3, .98), func(e *Evidence) {
			e.Flows[down].Receiver = probes.Got([]StreamWindow{unread(.29)})
		}), down, RuledOut, "keeps up"},
		{ReceiverCore, "late", base(direction(down), thread(local, "lr-rx-1", down, 3, .98), func(e *Evidence) {
			e.Flows[down].Receiver = probes.Got([]StreamWindow{unread(.30)})
		}), down, Holds, ""},
		{ReceiverCore, "asks for a closed window", base(direction(down), thread(local, "lr-rx-1", down, 3, .98), func(e *Evidence) {
			e.Ends[local].Vitals.TCP = probes.Got(probes.Counters{"TcpExt.TCPWantZeroWindowAdv": 2})
		}), down, Holds, ""},
		{ReceiverCore, "no core free", base(direction(down), cores(local, .97, .8), thread(local, "lr-rx-1", down, 0, .97)), down, Holds, "no other core is free"},
		{ReceiverCore, "threads unknown", base(direction(down), blindThreads(local)), down, Unseen, "hidepid"},
		{ReceiverCore, "far receiver unknown", base(), up, Unseen, "stock iperf3"},

		{SoftIRQCore, "94 % softirq", base(direction(down), cores(local, 0, .1, .2, .1), softirq(local, 0, .94, .04)), down, Holds,
			"Core 0 is full of packet receive (94 % in softirq) while 3 sit idle"},
		{SoftIRQCore, "69 % softirq", base(direction(down), cores(local, 0, .1, .2, .1), softirq(local, 0, .69, .30)), down, RuledOut, "69 %"},
		{SoftIRQCore, "6 % idle", base(direction(down), cores(local, 0, .1, .2, .1), softirq(local, 0, .90, .04)), down, RuledOut, ""},
		{SoftIRQCore, "all cores busy", base(direction(down), cores(local, 0, .6, .6, .6), softirq(local, 0, .94, .04)), down, RuledOut, "busy too"},
		{SoftIRQCore, "packets are elsewhere", base(direction(down), cores(local, 0, .1, .2, .1), softirq(local, 0, .94, .04), func(e *Evidence) {
			e.Ends[local].Vitals.NetRx = probes.Got([]uint64{59, 20, 20, 1})
		}), down, RuledOut, "59 %"},
		{SoftIRQCore, "far", base(far(.1, .1, .1, .1), softirq(farEnd, 3, .97, .02)), up, Holds, "Far core 3"},
		{SoftIRQCore, "cores unknown", base(direction(down), blindCores(local)), down, Unseen, "cgo"},
		{SoftIRQCore, "far unknown", base(), up, Unseen, "stock iperf3"},
		{SoftIRQCore, "loopback", base(oneHost(.1, .1), softirq(local, 0, .97, .03)), up, RuledOut, "no interface"},

		{SharedCore, "reader and interrupts", base(direction(down), softirq(local, 1, .25, .72), thread(local, "lr-rx-1", down, 1, .7)), down, Holds,
			"Interrupts (25 %) and the receiving thread (70 %) fight for core 1 (97 % busy)"},
		{SharedCore, "19 % softirq", base(far(.1, .1), virtualFar, direction(down), softirq(local, 1, .19, .78), thread(local, "lr-rx-1", down, 1, .7)), down, RuledOut, ""},
		{SharedCore, "94 % busy", base(far(.1, .1), virtualFar, direction(down), softirq(local, 1, .25, .69), thread(local, "lr-rx-1", down, 1, .7)), down, RuledOut, ""},
		{SharedCore, "veth", base(direction(down), softirq(local, 1, .25, .72), thread(local, "lr-rx-1", down, 1, .7), func(e *Evidence) {
			e.Ends[local].NIC.Value.Kind = probes.Got("veth")
			e.Ends[farEnd].NIC = e.Ends[local].NIC
		}), down, RuledOut, ""},
		{SharedCore, "threads unknown", base(direction(down), virtualFar, blindThreads(local)), down, Unseen, "hidepid"},
		{SharedCore, "interface unknown", base(direction(down), softirq(local, 1, .25, .72), func(e *Evidence) {
			e.Ends[local].NIC = probes.Unknown[probes.NIC](probes.Failed, "reading route")
		}), down, Unseen, ""},

		{OtherPrograms, "others 69 of 97 %", base(cores(local, .97, .97), func(e *Evidence) { e.Ends[local].Process = probes.Got(.56) }), up, Holds,
			"Other programs use 69 % of this computer's CPU, this test 28 %"},
		{OtherPrograms, "without traffic", base(idleTest, cores(local, .97, .97), func(e *Evidence) { e.Ends[local].Process = probes.Got(.1) }), up, Holds,
			"Other programs use 92 % of this computer's CPU: a test now would measure them too. Stop them first."},
		{OtherPrograms, "without traffic, this program itself", base(idleTest, far(.1, .1), cores(local, .97, .97), func(e *Evidence) { e.Ends[local].Process = probes.Got(1.3) }), up, RuledOut,
			"this program uses"},
		{OtherPrograms, "own part 60 %", base(far(.1, .1), cores(local, .97, .97), func(e *Evidence) { e.Ends[local].Process = probes.Got(1.165) }), up, RuledOut, "58 %"},
		{OtherPrograms, "own part 59 %", base(cores(local, .97, .97), func(e *Evidence) { e.Ends[local].Process = probes.Got(1.144) }), up, Holds, ""},
		{OtherPrograms, "time left", base(far(.1, .1), cores(local, .97, .92), func(e *Evidence) { e.Ends[local].Process = probes.Got(.2) }), up, RuledOut, "time left"},
		{OtherPrograms, "softirq is the test's", base(far(.1, .1), cores(local, .97, .97), softirq(local, 0, .5, .48), softirq(local, 1, .5, .48), func(e *Evidence) {
			e.Ends[local].Process = probes.Got(.5)
		}), up, RuledOut, ""},
		{OtherPrograms, "steal is nobody's here", base(far(.1, .1), func(e *Evidence) {
			e.Ends[local].Cores = probes.Got([]probes.CoreLoad{{System: .6, Steal: .4}, {Core: 1, System: .6, Steal: .4}})
		}), up, RuledOut, ""},
		{OtherPrograms, "process unknown", base(cores(local, .97, .97), func(e *Evidence) {
			e.Ends[local].Process = probes.Unknown[float64](probes.Denied, "no /proc/self/stat")
		}), up, Unseen, "no /proc/self/stat"},
		{OtherPrograms, "cores unknown", base(blindCores(local)), up, Unseen, ""},
		{OtherPrograms, "far", base(far(1, 1), func(e *Evidence) { e.Ends[farEnd].Process = probes.Got(.2) }), up, Holds, "the far computer's CPU"},
		{OtherPrograms, "stock server here", base(oneHost(.98, .98), func(e *Evidence) {
			e.Test.Linerate = false
			e.Ends[farEnd] = UnknownEnd("another program")
		}), up, Unseen, "the far program runs here too"},
		{OtherPrograms, "stock server here, known from the step before", base(oneHost(.98, .98), step(1, up, 30e9, .95), func(e *Evidence) {
			e.Test.Linerate = false
			e.Ends[farEnd] = UnknownEnd("another program")
		}), up, RuledOut, "63 %"},
		{OtherPrograms, "bound core", base(cores(local, .1, .98), thread(local, "lr-tx-1", up, 1, .4), func(e *Evidence) { e.Test.Spec.Affinity = 1 }), up, Holds, "of core 1, which -A"},
		{OtherPrograms, "bound core is the test's", base(far(.1, .1), cores(local, .1, .98), thread(local, "lr-tx-1", up, 1, .6), func(e *Evidence) { e.Test.Spec.Affinity = 1 }), up, RuledOut, ""},

		{AllCoresFull, "two", base(cores(local, .96, .99)), up, Holds, "Both cores are full (98 % busy): more streams cannot help much."},
		{AllCoresFull, "four", base(cores(local, .96, .96, .96, .96)), up, Holds, "All 4 cores are full"},
		{AllCoresFull, "one", base(cores(local, .99)), up, Holds, "The only core is full"},
		{AllCoresFull, "94 % on average", base(far(.1, .1), cores(local, .90, .98)), up, RuledOut, "94 %"},
		{AllCoresFull, "one core left", base(far(.1, .1), cores(local, 1, 1, 1, 1, 1, 1, 1, .89)), up, RuledOut, "89 %"},
		{AllCoresFull, "far", base(far(.99, .99)), up, Holds, "Both far cores are full"},
		{AllCoresFull, "both ends here, more streams lowered the sum", base(oneHost(.99, .99), streams(4), rateOf(up, 9.3e9), step(2, up, 10e9, 0)), up, Holds,
			"Both ends run on this computer. 4 streams gave −7 % over 2."},
		{AllCoresFull, "cores unknown", base(blindCores(local)), up, Unseen, "cgo"},
		{AllCoresFull, "far unknown", base(), up, Unseen, "stock iperf3"},

		{CoresBusy, "loopback on two cores", base(oneHost(.88, .71), thread(local, "lr-tx-1", up, 0, .85), thread(farEnd, "lr-rx-1", up, 1, .65)), up, Holds,
			"Both cores are busy (sending thread 85 %, receiving thread 65 %): another stream (+) may still help."},
		{CoresBusy, "loopback, 59 % busy", base(oneHost(.66, .52)), up, RuledOut, "59 %"},
		{CoresBusy, "loopback, more streams did not help", base(oneHost(.88, .88), streams(2), rateOf(up, 10.4e9), step(1, up, 10e9, 0)), up, Holds,
			"more streams do not help, 2 streams gave +4 % over 1."},
		{CoresBusy, "loopback with free cores", base(oneHost(.88, .9, .1, .1), thread(local, "lr-tx-1", up, 0, .85), thread(farEnd, "lr-rx-1", up, 1, .88)), up, Holds,
			"pace each other (sending thread 85 %, receiving thread 88 %), while 2 cores sit idle: another stream (+) may still help."},
		{CoresBusy, "busy with other things", base(oneHost(.88, .71), thread(local, "lr-tx-1", up, 0, .1), thread(farEnd, "lr-rx-1", up, 1, .1)), up, RuledOut, "use only 20 % of a core"},
		{CoresBusy, "loopback with idle threads", base(oneHost(.6, .6, .1, .1), thread(local, "lr-tx-1", up, 0, .59), thread(farEnd, "lr-rx-1", up, 1, .5)), up, RuledOut, "neither"},
		{CoresBusy, "loopback, threads unknown", base(oneHost(.8, .8, .1), blindThreads(local), blindThreads(farEnd)), up, Unseen, "hidepid"},
		{CoresBusy, "real network, 86 %", base(cores(local, .86, .86)), up, Holds, "Both cores are busy (86 % on average)"},
		{CoresBusy, "real network, 84 %", base(cores(local, .84, .84), far(.1, .1)), up, RuledOut, "84 % busy; far end: 2 cores could take another thread"},
		{CoresBusy, "paced", base(oneHost(.88, .71), func(e *Evidence) { e.Test.Spec.Bitrate = 1e9 }), up, RuledOut, "paced"},
		{CoresBusy, "cores unknown", base(oneHost(.88, .71), blindCores(local)), up, Unseen, "cgo"},

		{AskedRate, "-b 1M", base(rateOf(up, 1e6), func(e *Evidence) { e.Test.Spec.Bitrate = 1e6 }), up, Holds, "Your -b 1M is the limit: 1.00 Mbit/s"},
		{AskedRate, "-b 20M, 20.1 reached", base(rateOf(up, 20.1e6), func(e *Evidence) { e.Test.Spec.Bitrate = 20e6 }), up, Holds, "Your -b 20M"},
		{AskedRate, "two of 2.5G", base(streams(2), rateOf(up, 4.9e9), func(e *Evidence) { e.Test.Spec.Bitrate = 2.5e9 }), up, Holds, "of 2 streams"},
		{AskedRate, "96 % of it", base(rateOf(up, .96e9), func(e *Evidence) { e.Test.Spec.Bitrate = 1e9 }), up, RuledOut, "0.96 of 1.000"},
		{AskedRate, "none given", base(sender(up, nil)), up, RuledOut, "no -b"},
		{AskedRate, "rate unknown", base(blindRate(up), func(e *Evidence) { e.Test.Spec.Bitrate = 1e6 }), up, Unseen, ""},

		{Paced, "--fq-rate", base(rateOf(up, 28e6), func(e *Evidence) { e.Test.Spec.FQRate = 30e6 }), up, Holds, "Paced to 30.0 Mbit/s by your --fq-rate 30M"},
		{Paced, "--fq-rate not reached", base(rateOf(up, 26.9e6), func(e *Evidence) { e.Test.Spec.FQRate = 30e6 }), up, RuledOut, "26.9 of 30.00"},
		{Paced, "by the socket", base(rateOf(up, 28e6), sender(up, func(w *StreamWindow) { w.Now.MaxPacingRate = 30e6 / 8 })), up, Holds, "SO_MAX_PACING_RATE"},
		{Paced, "socket unlimited", base(sender(up, nil)), up, RuledOut, "not paced"},
		{Paced, "old kernel", base(sender(up, func(w *StreamWindow) { w.Info = probes.Got(104) })), up, Unseen, "too short"},
		{Paced, "far sender", base(direction(down)), down, Unseen, "only the other end"},
		{Paced, "simulated link, one stream", base(rateOf(up, 2.49e9), func(e *Evidence) { e.Test.LinkBps, e.Test.StreamBps = 10e9, 2.5e9 }), up, Holds,
			"The simulated link gives each stream 2.50 Gbit/s, 2.49 Gbit/s of 9.41 Gbit/s together: press + for another stream."},
		{Paced, "simulated link full", base(streams(4), rateOf(up, 9.41e9), func(e *Evidence) { e.Test.LinkBps, e.Test.StreamBps = 10e9, 2.353e9 }), up, RuledOut, "fill"},
		{Paced, "simulated link not reached", base(rateOf(up, 2.4e9), func(e *Evidence) { e.Test.LinkBps, e.Test.StreamBps = 10e9, 2.5e9 }), up, RuledOut, ""},

		{Ramping, "grows", base(ramp(1.2e9, 2e9, 2.9e9, 4.8e9)), up, Holds, "Still ramping up: 1.20 Gbit/s became 4.80 Gbit/s within 3 s."},
		{Ramping, "levels off", base(ramp(1.2e9, 2.9e9, 4.8e9, 5.0e9)), up, RuledOut, "does not grow"},
		{Ramping, "old", base(ramp(1.2e9, 2e9, 2.9e9, 4.8e9), func(e *Evidence) { e.Test.Age = 10 * time.Second }), up, RuledOut, "older"},
		{Ramping, "too young", base(ramp(1.2e9, 2.9e9, 4.8e9)), up, Unseen, "fewer than 4"},
		{Ramping, "windows grow", base(ramp(1.2e9, 2e9, 2.9e9, 4.8e9), sender(up, growing)), up, Holds, ""},
		{Ramping, "segments lost", base(ramp(1.2e9, 2e9, 2.9e9, 4.8e9), sender(up, func(w *StreamWindow) { growing(w); w.Now.TotalRetrans = 1 })), up, RuledOut, "lost"},
		{Ramping, "windows large enough", base(ramp(1.2e9, 2e9, 2.9e9, 4.8e9), sender(up, func(w *StreamWindow) { growing(w); w.Now.SndCwnd = 20000 })), up, RuledOut, "large enough"},

		{FarOneThread, "99 % with 4 streams", base(streams(4), step(4, up, 6e9, .99)), up, Holds,
			"The far iperf3 used 99 % of one core with 4 streams: it is single-threaded (before 3.16) or its core is full, + cannot help. Upgrade it, or run `linerate serve` there."},
		{FarOneThread, "it says 3.12", base(streams(4), step(4, up, 6e9, .99), func(e *Evidence) { e.Test.PeerAgent = "iperf 3.12" }), up, Holds, "it is single-threaded (iperf 3.12)"},
		{FarOneThread, "one each way", base(direction(engine.Both), step(1, engine.Both, 6e9, .97)), up, Holds, "with 2 streams"},
		{FarOneThread, "one stream", base(step(1, up, 6e9, .99)), up, Holds, "Press + to see whether it has more"},
		{FarOneThread, "one stream before, several now", base(streams(2), step(1, up, 6e9, .99)), up, Unseen, "end of a step"},
		{FarOneThread, "94 %", base(streams(4), step(4, up, 6e9, .94)), up, RuledOut, "94 %"},
		{FarOneThread, "111 %", base(streams(4), step(4, up, 6e9, 1.11)), up, RuledOut, "111 %"},
		{FarOneThread, "a core here is full", base(streams(4), step(4, up, 6e9, .99), cores(local, .1, .96)), up, RuledOut, "core 1 here"},
		{FarOneThread, "an own thread is full", base(streams(4), step(4, up, 6e9, .99), thread(local, "lr-tx-1", up, 2, .96)), up, RuledOut, "a thread here"},
		{FarOneThread, "other direction", base(streams(4), step(4, down, 6e9, .99)), up, Unseen, ""},
		{FarOneThread, "results lost", base(streams(4), step(4, up, 6e9, 0)), up, Unseen, "did not arrive"},
		{FarOneThread, "cores here unknown", base(streams(4), step(4, up, 6e9, .99), blindCores(local)), up, Unseen, "cgo"},
		{FarOneThread, "linerate", base(streams(4), step(4, up, 6e9, .99), far(.1)), up, RuledOut, "linerate"},

		{StandStill, "4 s", base(idleFor(4 * time.Second)), up, Holds, "No payload has moved in upload for 4 s"},
		{StandStill, "2.9 s", base(idleFor(2900 * time.Millisecond)), up, RuledOut, ""},
		{StandStill, "a block every 10 s is asked", base(idleFor(29*time.Second), func(e *Evidence) { e.Test.Spec.Bitrate = 104857.6 }), up, RuledOut, ""},
		{StandStill, "that is overdue", base(idleFor(31*time.Second), func(e *Evidence) { e.Test.Spec.Bitrate = 104857.6 }), up, Holds, ""},
		{StandStill, "unanswered", base(idleFor(4*time.Second), sender(up, func(w *StreamWindow) { w.Now.CAState, w.Now.Retransmits = 4, 5 })), up, Holds, "5 retransmissions in a row"},
		{StandStill, "counters unknown", base(func(e *Evidence) { e.Flows[up].Idle = probes.Unknown[time.Duration](probes.NotRead, "no counters yet") }), up, Unseen, "no counters yet"},

		{FarUnknown, "stock", base(), up, Holds, "The far side is unknown (stock iperf3); here core 1 is the busiest, 45 %. `linerate serve` there would show its cores."},
		{FarUnknown, "linerate that is silent", base(func(e *Evidence) {
			e.Test.Linerate = true
			e.Ends[farEnd] = UnknownEnd("no sample for 5 s")
		}), up, Holds, "(no sample for 5 s)"},
		{FarUnknown, "cores here unknown too", base(blindCores(local)), up, Holds, "the cores here are unknown too (no per-core times without cgo)"},
		{FarUnknown, "known", base(far(.1)), up, RuledOut, ""},
		{FarUnknown, "one computer", base(oneHost(.1)), up, RuledOut, ""},

		{NoCause, "nothing full", base(far(.2, .3)), up, Holds, "here core 1 is the busiest, 45 %, at the far end core 1, 30 %. Press + to see"},
		{NoCause, "another stream did not help", base(far(.2), streams(2), step(1, up, 6e9, 0)), up, Holds, "2 streams gave ±0 % over 1, so it is no limit of a single stream"},
		{NoCause, "young", base(far(.2), func(e *Evidence) { e.Test.Age = 2 * time.Second }), up, RuledOut, ""},
		{Measuring, "young", base(func(e *Evidence) { e.Test.Age = 2 * time.Second }), up, Holds, "Not enough evidence yet"},
		{Measuring, "rate unknown", base(blindRate(up)), up, Holds, ""},
		{Measuring, "old enough", base(), up, RuledOut, ""},
	}
}

// checkFinding checks what every finding owes its reader.
func checkFinding(t *testing.T, name string, f engine.Finding) {
	t.Helper()
	if n := utf8.RuneCountInString(f.Short); n == 0 || n > 40 {
		t.Errorf("%s: short form has %d columns: %q", name, n, f.Short)
	}
	if !strings.HasSuffix(f.Text, ".") || strings.Contains(f.Text, "  ") || strings.Contains(f.Text, "%!") || strings.Contains(f.Text, "..") {
		t.Errorf("%s: no clean sentence: %q", name, f.Text)
	}
	if f.Title == "" || f.Code == "" {
		t.Errorf("%s: code %q and title %q", name, f.Code, f.Title)
	}
	for _, e := range f.Evidence {
		if e.Name == "" || strings.Contains(e.Name, "%!") {
			t.Errorf("%s: evidence without a name: %+v", name, e)
		}
	}
	if f.Severity >= engine.SeverityLimit && len(f.Evidence) == 0 {
		t.Errorf("%s: no evidence", name)
	}
	if f.Severity >= engine.SeverityWarning && len(f.Remedy) == 0 && f.Code != StandStill {
		t.Errorf("%s: a warning without a remedy", name)
	}
	if !slices.Contains(proofs, f.Proof) {
		t.Errorf("%s: proof %q is none that anyone can run", name, f.Proof)
	}
	for _, r := range f.Remedy {
		checkRemedy(t, name, f.Code, r)
	}
}

var proofs = []engine.Proof{engine.ProofNone, engine.ProofAddStream, engine.ProofReverse, engine.ProofOneWay, engine.ProofCongestion,
	engine.ProofRate95, engine.ProofPin, engine.ProofMTU, engine.ProofDiscard, engine.ProofUDP}

// bufferRules are those that may advise on buffer sizes, or on a whole queue's length.
var bufferRules = []string{Squeezed, BacklogDrops, QdiscDrops, DatagramBufferFull, MemoryPressure, ReceiveWindow, LockedBuffer, SendBuffer}

// checkRemedy holds the promises about advice: no firewall is ever switched off, and
// no profile of settings is sold where no rule about buffers holds.
func checkRemedy(t *testing.T, name, code string, r engine.Remedy) {
	t.Helper()
	all := strings.ToLower(r.Text + " " + r.Temporary + " " + r.Persistent)
	if r.Text == "" || strings.Contains(all, "%!") {
		t.Errorf("%s: remedy %+v", name, r)
	}
	for _, never := range []string{"firewalld", "ufw", "iptables -f", "flush ruleset", "nft delete table inet filter", "systemctl stop", "service firewall stop", "pfctl -d"} {
		if strings.Contains(all, never) {
			t.Errorf("%s: advises %q: %+v", name, never, r)
		}
	}
	if slices.Contains(bufferRules, code) {
		return
	}
	for _, setting := range []string{"tcp_rmem", "tcp_wmem", "rmem_max", "wmem_max", "netdev_max_backlog", "default_qdisc", "netdev_budget"} {
		if strings.Contains(all, setting) {
			t.Errorf("%s: no buffer is too small, but it advises on %s: %+v", name, setting, r)
		}
	}
}

// Each rule of the project's list has its place.
func TestEveryRuleOfTheList(t *testing.T) {
	var want []string
	for i := range 54 {
		want = append(want, fmt.Sprintf("R%02d", i+1))
	}
	want = append(want, "R19b", "R44b", "R44c", "R45b", "R45c", "R46b")
	have := map[string]bool{}
	for _, r := range rules {
		if have[r.code] {
			t.Errorf("%s stands twice in the list", r.code)
		}
		have[r.code] = true
		if r.title == "" || r.check == nil {
			t.Errorf("%s: no title or no function", r.code)
		}
	}
	for _, code := range want {
		if !have[code] {
			t.Errorf("no rule %s", code)
		}
	}
}

// What hides a finding exists, and no two findings hide each other, even by detours:
// something is always left to show.
func TestHiding(t *testing.T) {
	by := map[string][]string{}
	for _, r := range rules {
		by[r.code] = r.hiddenBy
	}
	var visit func(code string, path []string)
	visit = func(code string, path []string) {
		if slices.Contains(path, code) {
			t.Fatalf("findings hide each other: %v", append(path, code))
		}
		hiders, ok := by[code]
		if !ok {
			t.Fatalf("%v: no rule %s", path, code)
		}
		for _, h := range hiders {
			visit(h, append(slices.Clone(path), code))
		}
	}
	for code := range by {
		visit(code, nil)
	}
}

func ramp(perSecond ...float64) func(*Evidence) {
	return func(e *Evidence) {
		e.Test.Age = time.Duration(len(perSecond)) * time.Second
		e.Flows[engine.Upload] = flow(perSecond[len(perSecond)-1])
		e.Flows[engine.Upload].Seconds = perSecond
	}
}

// growing is a window in slow start over a path of 40 ms.
func growing(w *StreamWindow) {
	w.Before.SndCwnd, w.Now.SndCwnd = 100, 1000
	w.Before.RTT, w.Now.RTT = 40*time.Millisecond, 40*time.Millisecond
}
