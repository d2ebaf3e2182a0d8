package figure

import (
	"math"
	"strconv"
	"strings"
	"time"

	"linerate/engine"
	"linerate/engine/unit"
	"linerate/probes"
)

// Rate is bits per second in full: "9.41 Gbit/s".
func Rate(bps float64, u unit.System) string { return unit.RateIn(bps, u) }

// Short is a rate for a column whose head names the unit: "9.41 G", "1.18 GB".
func Short(bps float64, u unit.System) string {
	s := unit.RateIn(bps, u)
	s = strings.TrimSuffix(s, "bit/s")
	s = strings.TrimSuffix(s, "/s")
	return strings.TrimSuffix(s, " ")
}

// Unit is what Short leaves out.
func Unit(u unit.System) string {
	if u == unit.BitsSI {
		return "bit/s"
	}
	return "per s"
}

// Bytes is an amount of data in the family of the unit system.
func Bytes(n uint64, u unit.System) string {
	if u == unit.Binary {
		return unit.BytesIEC(n)
	}
	return unit.Bytes(n)
}

// percents are the values that appear on every frame.
var percents = func() (s [101]string) {
	for i := range s {
		s[i] = strconv.Itoa(i)
	}
	return s
}()

// Percent is a share as a whole number without sign: 0.97 is "97".
func Percent(share float64) string {
	if math.IsNaN(share) || share < 0 || share > 1e6 {
		return unit.None
	}
	n := int(share*100 + 0.5)
	if n < len(percents) {
		return percents[n]
	}
	return strconv.Itoa(n)
}

// Tenths is a share in percent with one digit after the point, without sign: "0.4".
func Tenths(share float64) string {
	if math.IsNaN(share) || share < 0 || share > 1e6 {
		return unit.None
	}
	return strconv.FormatFloat(share*100, 'f', 1, 64)
}

// Fairness is Jain's index, "" when there is none.
func Fairness(index float64) string {
	if !(index > 0 && index <= 1.005) {
		return ""
	}
	return strconv.FormatFloat(index, 'f', 2, 64)
}

// Delta is a relative change with its sign: "+96 %", "-3 %", "±0 %".
func Delta(share float64) string {
	switch {
	case math.IsNaN(share) || math.IsInf(share, 0):
		return unit.None
	case math.Abs(share) < 0.005:
		return "±0 %"
	case share < 0:
		return "-" + Percent(-share) + " %"
	}
	return "+" + Percent(share) + " %"
}

// PerSecond is a count per second, without the "/s".
func PerSecond(r probes.Reading[float64]) string {
	if !r.Known() {
		return unit.None
	}
	return unit.Count(r.Value)
}

// Count is a number of things that may be unknown.
func Count(r probes.Reading[uint64]) string {
	if !r.Known() {
		return unit.None
	}
	return unit.Count(float64(r.Value))
}

// Size is a number of bytes that may be unknown.
func Size(r probes.Reading[uint64]) string {
	if !r.Known() {
		return unit.None
	}
	return unit.Bytes(r.Value)
}

// Duration is a time span that may be unknown.
func Duration(r probes.Reading[time.Duration]) string {
	if !r.Known() {
		return unit.None
	}
	return unit.Duration(r.Value)
}

// Age is how long ago something was read or told. Within a tick of the screen it is now.
func Age(d time.Duration) string {
	switch {
	case d < 100*time.Millisecond:
		return "now"
	case d < 9950*time.Millisecond:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s ago"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds()+0.5)) + " s ago"
	}
	return unit.Duration(d) + " ago"
}

// Arrow is the sign of a direction.
func Arrow(d engine.Direction, up, down, both string) string {
	switch d {
	case engine.Upload:
		return up
	case engine.Download:
		return down
	}
	return both
}
