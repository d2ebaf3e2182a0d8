package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
)

const (
	// stolen and stolenMean are the shares of time that a hypervisor withholds from one
	// core, and from all on average, that matter.
	stolen, stolenMean = 0.10, 0.05
	// throttledShare is the least share of the time a control group's quota, or heat,
	// must hold the CPU back.
	throttledShare = 0.05
	// slowClock is the part of its top frequency below which a busy core is slow, and
	// clockBusy how busy it must be for that to say anything: idle cores clock down.
	slowClock, clockBusy = 0.8, 0.8
	// nearTrip is how few degrees below a trip point a sagging clock is the heat's doing.
	nearTrip = 5.0
)

// steal (R16): the hypervisor runs other guests on these cores.
func steal(e *Evidence, dir engine.Direction) ruling {
	return e.eachComputer(func(side engine.Side) ruling {
		cores, ok := e.cores(side).Get()
		if !ok {
			return e.notSeen(side, "cores", e.cores(side).Why())
		}
		worst := slices.MaxFunc(cores, func(a, b probes.CoreLoad) int { return compare(a.Steal, b.Steal) })
		s := spreadOf(cores)
		if worst.Steal < stolen && s.steal < stolenMean {
			return no(fmt.Sprintf("%s of the %scores' time is stolen", percent(s.steal), e.where(side)))
		}
		return holds(engine.Finding{
			Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: e.side(side), Core: worst.Core,
			Text: fmt.Sprintf("The hypervisor withholds %s of %score %d (%s of all cores): other guests use them.",
				percent(worst.Steal), e.where(side), worst.Core, percent(s.steal)),
			Short: fmt.Sprintf("hypervisor takes %s of %score %d", percent(worst.Steal), e.where(side), worst.Core),
			Evidence: e.from(dir, e.share(fmt.Sprintf("core %d stolen", worst.Core), worst.Steal, side),
				e.share("stolen, mean", s.steal, side)),
			Remedy: []engine.Remedy{e.system(side).say("Give the guest dedicated or pinned cores, or a quieter host. What vhost threads use does not show here.")},
		})
	})
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// quota (R17): the CPU limit of a control group stops the threads.
func quota(e *Evidence, dir engine.Direction) ruling {
	return e.eachComputer(func(side engine.Side) ruling {
		end := e.end(side)
		limit := ""
		if n, ok := end.Vitals.Quota.Cores.Get(); ok {
			limit = " of " + coreCount(n)
		}
		sys := e.system(side)
		f := engine.Finding{
			Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: e.side(side), Core: -1,
			Remedy: []engine.Remedy{sys.do("Raise the CPU limit of the container or the unit.",
				"systemctl set-property --runtime UNIT CPUQuota=", "cpu.max, or the container's CPU limit")},
		}
		held := e.shareOfWindow(side, end.Vitals.Quota.Throttled)
		held.Value = min(held.Value, 1) // each core's wait counts
		if e.Test.Idle && held.Value < throttledShare {
			return e.tightQuota(side, f)
		}
		if !held.Known() {
			return e.notSeen(side, "CPU limit", held.Why())
		}
		if held.Value < throttledShare {
			return no(fmt.Sprintf("the CPU limit%s holds the test back for %s of the time", limit, percent(held.Value)))
		}
		f.Text = fmt.Sprintf("The %scontrol group's CPU limit%s holds this program back for %s of the time.", e.where(side), limit, percent(held.Value))
		f.Short = fmt.Sprintf("%sCPU limit: held back %s", e.where(side), percent(held.Value))
		f.Evidence = e.from(dir, e.vital("time throttled", held.Value, "share", side))
		return holds(f)
	})
}

// parts prints a number of cores, which may be a broken one: "0.25", "2".
func parts(n float64) string {
	if !sensible(n) {
		return unit.None
	}
	return strconv.FormatFloat(math.Round(n*100)/100, 'f', -1, 64)
}

// coreCount is parts with the name of what is counted.
func coreCount(n float64) string {
	if parts(n) == "1" {
		return "1 core"
	}
	return parts(n) + " cores"
}

// tightQuota is quota while nothing flows: a limit below the number of cores will hold
// a test back.
func (e *Evidence) tightQuota(side engine.Side, f engine.Finding) ruling {
	limit := e.end(side).Vitals.Quota.Cores
	cores, ok := e.cores(side).Get()
	switch held := e.end(side).Vitals.Quota.Throttled; {
	case limit.Status == probes.Absent && held.Known():
		return no("no CPU limit")
	case !limit.Known():
		return e.notSeen(side, "CPU limit", limit.Why())
	case !ok:
		return e.notSeen(side, "cores", e.cores(side).Why())
	case limit.Value >= float64(len(cores)):
		return no(fmt.Sprintf("the CPU limit is %s of %d", coreCount(limit.Value), len(cores)))
	}
	f.Confidence = engine.Likely
	f.Text = fmt.Sprintf("The %scontrol group may use %s of %s: a fast test will be held back by it.",
		e.where(side), parts(limit.Value), count(len(cores), "core"))
	f.Short = fmt.Sprintf("%sCPU limit: %s of %s", e.where(side), parts(limit.Value), count(len(cores), "core"))
	f.Evidence = []engine.Evidence{e.vital("CPU limit", limit.Value, "cores", side), e.fact("cores", float64(len(cores)), "", side)}
	return holds(f)
}

// shareOfWindow is a time as a share of the window of one end's vitals.
func (e *Evidence) shareOfWindow(side engine.Side, t probes.Reading[time.Duration]) probes.Reading[float64] {
	if !t.Known() {
		return probes.Unknown[float64](t.Status, t.Why())
	}
	return e.perSecond(side, probes.Got(t.Value.Seconds()))
}

// slowCore (R18): the busiest core runs below its clock because the governor leaves it
// there.
func slowCore(e *Evidence, dir engine.Direction) ruling {
	return e.eachComputer(func(side engine.Side) ruling {
		host, ok := e.end(side).Host.Get()
		if !ok {
			return e.notSeen(side, "processor", e.end(side).Host.Why())
		}
		governor, ok := host.CPU.Governor.Get()
		if !ok {
			return e.notSeen(side, "governor", host.CPU.Governor.Why())
		}
		if !lazyGovernor(governor, host) {
			return no("the governor is " + governor)
		}
		f := engine.Finding{
			Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: e.side(side), Core: -1,
			Evidence: e.from(dir, e.fact("governor "+governor, 1, engine.True, side)),
			Remedy:   []engine.Remedy{e.system(side).fullClock()},
		}
		if e.Test.Idle {
			f.Confidence = engine.Likely
			f.Text = fmt.Sprintf("The governor of the %scores is %s: they may stay slow under load.", e.where(side), governor)
			f.Short = fmt.Sprintf("%sgovernor %s", e.where(side), clip(governor, 24))
			return holds(f)
		}
		return e.slowUnderLoad(side, governor, f)
	})
}

// lazyGovernor reports a governor that may leave a busy core slow. The powersave of
// intel_pstate's and amd-pstate's active modes does scale; schedutil is slow to on ARM.
func lazyGovernor(governor string, host probes.Host) bool {
	driver := host.CPU.Driver.Value
	active := driver == "intel_pstate" || driver == "amd-pstate-epp" || driver == "amd_pstate_epp"
	return strings.Contains(governor, "conservative") ||
		strings.Contains(governor, "powersave") && !active ||
		strings.Contains(governor, "schedutil") && strings.HasPrefix(host.Arch, "arm")
}

func (e *Evidence) slowUnderLoad(side engine.Side, governor string, f engine.Finding) ruling {
	cores, ok := e.cores(side).Get()
	if !ok {
		return e.notSeen(side, "cores", e.cores(side).Why())
	}
	top := spreadOf(cores).top
	if top.Busy() < clockBusy {
		return no(fmt.Sprintf("the busiest %score is %s busy", e.where(side), percent(top.Busy())))
	}
	now, most := e.clock(side, top.Core)
	switch {
	case !now.Known():
		return e.notSeen(side, "clock", now.Why())
	case now.Value >= slowClock*most:
		return no(fmt.Sprintf("core %d runs at %s", top.Core, ghz(now.Value, most)))
	}
	f.Core = top.Core
	f.Text = fmt.Sprintf("%score %d runs at %s under load (%s).", e.where(side), top.Core, ghz(now.Value, most), governor)
	f.Text = sentence(f.Text)
	f.Short = fmt.Sprintf("%score %d slow: %s", e.where(side), top.Core, ghz(now.Value, most))
	f.Evidence = append(f.Evidence, e.vital(fmt.Sprintf("core %d clock", top.Core), now.Value, "Hz", side),
		e.fact("top clock", most, "Hz", side), e.share(fmt.Sprintf("core %d busy", top.Core), top.Busy(), side))
	return holds(f)
}

// clock is a core's frequency and the highest it can have, hertz.
func (e *Evidence) clock(side engine.Side, core int) (now probes.Reading[float64], most float64) {
	host := &e.end(side).Host.Value
	most, ok := host.CPU.MaxHz.Get()
	if !ok || most <= 0 {
		return probes.Unknown[float64](host.CPU.MaxHz.Status, host.CPU.MaxHz.Why()), 0
	}
	all := e.end(side).Vitals.CoreHz
	if !all.Known() {
		all = host.CPU.FreqHz
	}
	switch {
	case !all.Known():
		return probes.Unknown[float64](all.Status, all.Why()), most
	case core < 0 || core >= len(all.Value) || all.Value[core] <= 0: // 0 stands for a core that is offline
		return probes.Unknown[float64](probes.Absent, fmt.Sprintf("no clock of core %d", core)), most
	}
	return probes.Got(all.Value[core]), most
}

func ghz(now, most float64) string {
	return digits(now/1e9, 2) + " of " + digits(most/1e9, 2) + " GHz"
}

// heat (R19): the processor slows down because it is too hot.
func heat(e *Evidence, dir engine.Direction) ruling {
	return e.eachComputer(func(side engine.Side) ruling {
		v := &e.end(side).Vitals.Thermal
		held := e.shareOfWindow(side, v.Throttled)
		f := engine.Finding{
			Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: e.side(side), Core: -1,
			Short: e.where(side) + "CPU throttles from heat",
			Remedy: []engine.Remedy{e.system(side).say(
				"Clean or improve the cooling, or lower the power limit. 10GBASE-T modules in SFP+ cages overheat too.")},
		}
		switch {
		case v.Events.Value > 0:
			f.Evidence = e.from(dir, e.vital("throttle events", float64(v.Events.Value), "", side))
		case held.Value >= throttledShare:
			f.Evidence = e.from(dir, e.vital("time throttled", held.Value, "share", side))
		case e.sagsHot(side):
			f.Confidence = engine.Likely
			f.Evidence = e.from(dir, e.vital("degrees below the trip point", v.Margin.Value, "K", side))
		case !v.Events.Known() && !v.Throttled.Known() && !v.Margin.Known():
			return e.notSeen(side, "heat", v.Events.Why())
		default:
			return no("no throttling from heat")
		}
		f.Text = fmt.Sprintf("The %sCPU is throttled by heat", e.where(side))
		if n := len(e.flow(dir).Seconds); n >= 2*leastSeconds {
			s := e.flow(dir).Seconds
			if first, last := mean(s[:leastSeconds]), mean(s[n-leastSeconds:]); last < 0.9*first {
				f.Text += fmt.Sprintf("; the rate fell from %s to %s", unit.Rate(first), unit.Rate(last))
			}
		}
		f.Text += "."
		return holds(f)
	})
}

// sagsHot reports a busy core that has lost a fifth of its clock near a trip point.
func (e *Evidence) sagsHot(side engine.Side) bool {
	margin, ok := e.end(side).Vitals.Thermal.Margin.Get()
	cores, seen := e.cores(side).Get()
	if !ok || !seen || margin > nearTrip {
		return false
	}
	top := spreadOf(cores).top
	now, most := e.clock(side, top.Core)
	return top.Busy() >= clockBusy && now.Known() && now.Value < slowClock*most
}
