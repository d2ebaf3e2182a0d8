package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"linerate/engine/unit"
)

// middle gives the median of values, which it sorts; false for none.
func middle(values []float64) (float64, bool) {
	if len(values) == 0 {
		return 0, false
	}
	slices.Sort(values)
	n := len(values)
	if n%2 == 1 {
		return values[n/2], true
	}
	return (values[n/2-1] + values[n/2]) / 2, true
}

// percent prints a share: "98 %", "0.3 %". What is not quite all is never printed as all,
// nor what is not quite nothing as nothing.
func percent(share float64) string {
	if !sensible(share) {
		return unit.None
	}
	p := math.Round(share * 100)
	switch {
	case p >= 100 && share < 0.995:
		p = 99
	case p == 0 && share > 0:
		return permille(share)
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + " %"
}

// sensible reports a share that something can have: a saved document may hold anything.
func sensible(share float64) bool { return share >= 0 && share < 1e6 }

// permille prints a small share: "0.14 %", "0.003 %".
func permille(share float64) string {
	if !sensible(share) {
		return unit.None
	}
	n := 2
	switch p := share * 100; {
	case p <= 0:
		return "0 %"
	case p < 0.0001:
		return "less than 0.0001 %"
	case p < 0.01:
		n = 4
	case p >= 10:
		return percent(share)
	}
	return fmt.Sprintf("%.*f %%", n, share*100)
}

// gain prints a change: "+12 %", "−3 %", "±0 %".
func gain(share float64) string {
	p := math.Round(share * 100)
	switch {
	case !sensible(math.Abs(share)):
		return unit.None
	case p > 0:
		return fmt.Sprintf("+%.0f %%", p)
	case p < 0:
		return fmt.Sprintf("−%.0f %%", -p)
	}
	return "±0 %"
}

// ofRate prints a rate beside the one it is compared with, in the same unit and with one
// digit more for the second: "9.41 of 9.415 Gbit/s".
func ofRate(rate, of float64) string {
	scale, name := 1.0, "bit/s"
	for _, next := range []string{"kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"} {
		if of < 1000*scale {
			break
		}
		scale, name = scale*1000, next
	}
	return digits(rate/scale, 3) + " of " + digits(of/scale, 4) + " " + name
}

// digits prints v with n significant digits, but never less than its whole part.
func digits(v float64, n int) string {
	if !(math.Abs(v) < 1e12) {
		return strconv.FormatFloat(v, 'g', n, 64)
	}
	whole := 1
	if v >= 10 {
		whole = int(math.Log10(v)) + 1
	}
	return strconv.FormatFloat(v, 'f', max(0, n-whole), 64)
}

// flagRate prints bits per second as -b takes them: "1M", "2.5G".
func flagRate(bps float64) string {
	suffixes := []string{"", "K", "M", "G", "T"}
	i := 0
	for i < len(suffixes)-1 && bps >= 1000 {
		bps /= 1000
		i++
	}
	return strconv.FormatFloat(bps, 'f', -1, 64) + suffixes[i]
}

// count prints a number of things with their name: "1 core", "3 cores".
func count(n int, name string) string {
	if n == 1 {
		return "1 " + name
	}
	return strconv.Itoa(n) + " " + name + "s"
}

// plural prints a number that was counted with what it counts: "1 packet", "1.2k packets".
func plural(n float64, one, many string) string {
	if unit.Count(n) == "1" {
		return "1 " + one
	}
	return unit.Count(n) + " " + many
}

// times prints how often something happened: "once", "twice", "7 times".
func times(n float64) string {
	switch s := unit.Count(n); s {
	case "1":
		return "once"
	case "2":
		return "twice"
	default:
		return s + " times"
	}
}

// sentence makes the first letter a capital one.
func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// asDuration turns seconds into a duration, within what one can hold.
func asDuration(s float64) time.Duration {
	return time.Duration(min(max(s, 0), 1e6) * float64(time.Second))
}
