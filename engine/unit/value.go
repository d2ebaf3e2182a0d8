package unit

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// exactBytes is where the sizes of packets end and those of buffers begin: an MTU of 4074
// is not 4.07 kB.
const exactBytes = 1 << 16

// Value prints a number in a base unit: "bit/s", "B", "s", "share" (of one), "1/s", "Hz",
// "dBm", "K", "true" for what is so, or "" for a plain count. Behind a count of anything else stands its name.
func Value(v float64, base string) string {
	switch base {
	case "bit/s":
		return Rate(v)
	case "B":
		if valid(v) && v < exactBytes {
			return strconv.FormatFloat(v, 'f', 0, 64) + " bytes"
		}
		return bytesSI.string(v)
	case "s":
		if !valid(v) || v > math.MaxInt64/1e9 {
			return None
		}
		return Duration(time.Duration(v * float64(time.Second)))
	case "share":
		return Share(v)
	case "1/s":
		return Count(v) + "/s"
	case "Hz":
		if !valid(v) {
			return None
		}
		return strconv.FormatFloat(v/1e9, 'f', 2, 64) + " GHz"
	case "dBm", "K":
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return None
		}
		return strconv.FormatFloat(v, 'f', 1, 64) + " " + base
	case "":
		return Count(v)
	case yes:
		return "yes"
	}
	return Count(v) + " " + base
}

// yes is the unit of what is no number (engine.True).
const yes = "true"

// Named prints a value after its name, of what is no number the name alone.
func Named(name string, v float64, base string) string {
	if base == yes {
		return name
	}
	return name + " " + Value(v, base)
}

// Share prints a share of one in percent. Below 10 % it keeps a digit, below 1 % two: loss
// of 0.07 % is not nothing. What is not quite all is no 100 %.
func Share(v float64) string {
	var b [24]byte
	p := 100 * v
	switch {
	case !valid(v):
		return None
	case p == 0:
		return "0 %"
	case p < 0.005:
		return "<0.01 %"
	case p < 0.995:
		return string(append(strconv.AppendFloat(b[:0], p, 'f', 2, 64), " %"...))
	case p < 9.95:
		return string(append(strconv.AppendFloat(b[:0], p, 'f', 1, 64), " %"...))
	case p >= 99.5 && p < 100:
		return "99 %"
	}
	return string(append(strconv.AppendFloat(b[:0], min(p, 1e6), 'f', 0, 64), " %"...))
}

// Belongs reports whether word is the unit of the number that before ends in, so that no
// line should break between the two: "41.2" and "ms", but not "core 0" and "is".
func Belongs(before, word string) bool {
	if n := len(before); n == 0 || before[n-1] < '0' || before[n-1] > '9' {
		return false
	}
	switch strings.TrimRight(word, ".,:;()") {
	case "%", "ns", "µs", "ms", "s", "B", "kB", "MB", "GB", "KiB", "MiB", "GiB", "bytes", "GHz",
		"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s":
		return true
	}
	return false
}
