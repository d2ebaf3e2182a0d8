package diagnose

import (
	"fmt"
	"strings"
	"time"

	"linerate/engine"
	"linerate/engine/unit"
)

const (
	// rampEnd is the age in seconds after which a rise is not called a ramp any more.
	rampEnd = 10
	// rising is the growth from one second to the next, and risingFor how many times in
	// a row, that make a ramp: noise on a full link stays below both.
	rising, risingFor = 1.05, 3
	// grown is by how much the congestion windows must have grown over the window of some
	// seconds where the seconds themselves are not known: CUBIC at its plateau stays below.
	grown = 1.3
	// bdpPart is the part of the bandwidth-delay product above which the congestion
	// window is not what holds the rate any more.
	bdpPart = 0.5
	// noThreshold is the slow start threshold of a connection that never left slow start.
	noThreshold = 0x7fffffff
)

// ramping (R37): the rate still grows from second to second; a path must not be judged
// by it.
func ramping(e *Evidence, dir engine.Direction) ruling {
	f := e.flow(dir)
	n := len(f.Seconds)
	switch {
	case !e.younger(rampEnd * time.Second):
		return no(fmt.Sprintf("the step is older than %d s", rampEnd))
	case n == 0:
		return e.rampWithoutSeconds(dir)
	case n <= risingFor:
		return unseen(fmt.Sprintf("fewer than %d whole seconds", risingFor+1))
	}
	last := f.Seconds[n-1-risingFor:]
	for i := 1; i < len(last); i++ {
		if last[i] < rising*last[i-1] {
			return no("the rate does not grow from second to second")
		}
	}
	finding := e.rampFinding(dir)
	finding.Text = fmt.Sprintf("Still ramping up: %s became %s within %d s. Wait until it levels off.",
		unit.Rate(last[0]), unit.Rate(last[risingFor]), risingFor)
	finding.Short = fmt.Sprintf("ramping up: %s to %s", unit.Rate(last[0]), unit.Rate(last[risingFor]))
	finding.Evidence = append(finding.Evidence, engine.Evidence{Name: fmt.Sprintf("goodput %d s ago", risingFor), Value: last[0], Unit: "bit/s", Side: engine.Local, Age: f.Age})
	if streams, ok := f.Sender.Get(); ok {
		return e.rampByWindow(dir, streams, finding)
	}
	return holds(finding)
}

// rampFinding is R37 without its words.
func (e *Evidence) rampFinding(dir engine.Direction) engine.Finding {
	return engine.Finding{
		Severity: engine.SeverityOK, Confidence: engine.Likely, Side: engine.Path, Core: -1,
		Evidence: e.from(dir),
		Remedy: []engine.Remedy{
			{Text: "Test longer, or leave the first seconds out of the average.", Temporary: "-O 5"},
			e.system(e.Sender(dir)).do("Forget what earlier connections learned about this path.", "ip tcp_metrics flush", "net.ipv4.tcp_no_metrics_save = 1 in "+ownFile),
		},
	}
}

// rampWithoutSeconds judges by the sender's sockets alone, for a document that has no
// seconds: slow start was left early, and the windows have grown since.
func (e *Evidence) rampWithoutSeconds(dir engine.Direction) ruling {
	streams, ok := e.flow(dir).Sender.Get()
	side := e.Sender(dir)
	if !ok || len(streams) == 0 {
		return unseen("no whole seconds")
	}
	var before, now, left float64
	for i := range streams {
		w := &streams[i]
		before += float64(w.Before.SndCwnd)
		now += float64(w.Now.SndCwnd)
		if w.Now.SndSSThresh < noThreshold {
			left += float64(w.Now.SndSSThresh)
		}
	}
	early := sum(e.tcp(side, "TcpExt.TCPHystartDelayDetect"), e.tcp(side, "TcpExt.TCPHystartTrainDetect"))
	switch {
	case before <= 0 || left <= 0:
		return unseen("no whole seconds")
	case now < grown*before:
		return no("the congestion windows do not grow")
	case early.Value <= 0 && left >= now:
		return no("slow start was not left early")
	}
	f := e.rampFinding(dir)
	f.Text = fmt.Sprintf("Still ramping up: the congestion windows grew from %.0f to %.0f segments. Wait until they level off.", before, now)
	f.Short = fmt.Sprintf("ramping up: cwnd %.0f to %.0f", before, now)
	return e.rampByWindow(dir, streams, f)
}

// rampByWindow checks with the senders' own numbers: the congestion windows grow, are
// still far from what the path can hold, and nothing is lost.
func (e *Evidence) rampByWindow(dir engine.Direction, streams []StreamWindow, f engine.Finding) ruling {
	var before, now, lost, rtt float64
	left := uint32(noThreshold)
	for i := range streams {
		w := &streams[i]
		if !w.Info.Known() {
			return holds(f)
		}
		before += float64(w.Before.CwndBytes())
		now += float64(w.Now.CwndBytes())
		lost += float64(w.Now.TotalRetrans - w.Before.TotalRetrans)
		rtt += w.Now.RTT.Seconds() / float64(len(streams))
		left = min(left, w.Now.SndSSThresh)
	}
	ceiling, known := e.ceiling().Get()
	bdp := ceiling.Bps / 8 * rtt
	switch {
	case lost > 0:
		return no("segments were lost: this is no slow start")
	case now <= before:
		return no("the congestion windows do not grow")
	case known && now >= bdpPart*bdp:
		return no("the congestion windows are large enough for this link")
	}
	side := e.side(e.Sender(dir))
	f.Confidence = engine.Sure
	f.Evidence = append(f.Evidence, engine.Evidence{Name: "congestion windows", Value: now, Unit: "B", Side: side, Age: e.flow(dir).Age})
	if left > 0 && left < noThreshold {
		f.Text = strings.Replace(f.Text, ". Wait", fmt.Sprintf("; slow start ended at %s. Wait", count(int(left), "segment")), 1)
		f.Evidence = append(f.Evidence, engine.Evidence{Name: "left slow start at, segments", Value: float64(left), Side: side, Age: e.flow(dir).Age})
	}
	return holds(f)
}
