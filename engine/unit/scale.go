package unit

import (
	"math"
	"strconv"
)

// None stands for a value that is not known or makes no sense.
const None = "–"

// scale is a family of units: each is step times the one before it.
type scale struct {
	step  float64
	names [7]string
}

var (
	bitsSI   = scale{1000, [...]string{" bit/s", " kbit/s", " Mbit/s", " Gbit/s", " Tbit/s", " Pbit/s", " Ebit/s"}}
	perSecSI = scale{1000, [...]string{" B/s", " kB/s", " MB/s", " GB/s", " TB/s", " PB/s", " EB/s"}}
	perSec   = scale{1024, [...]string{" B/s", " KiB/s", " MiB/s", " GiB/s", " TiB/s", " PiB/s", " EiB/s"}}
	bytesSI  = scale{1000, [...]string{" B", " kB", " MB", " GB", " TB", " PB", " EB"}}
	bytesIEC = scale{1024, [...]string{" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"}}
)

// valid reports whether v is a quantity that can be printed.
func valid(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }

// string prints v with three significant digits, the smallest unit without fraction.
// In steps of 1024 the values 1000 … 1023 take four digits.
func (s *scale) string(v float64) string {
	if !valid(v) {
		return None
	}
	i := 0
	// Half a digit below the step already rounds up to it: 999.6 k is 1.00 M.
	for i < len(s.names)-1 && v >= s.step-0.5 {
		v /= s.step
		i++
	}
	var buf [40]byte
	var b []byte
	switch {
	case i == 0:
		b = strconv.AppendFloat(buf[:0], v, 'f', 0, 64)
	case v >= 1e6: // nothing real: keep it short
		b = strconv.AppendFloat(buf[:0], v, 'g', 3, 64)
	default:
		b = appendDigits(buf[:0], v)
	}
	return string(append(b, s.names[i]...))
}

// appendDigits writes v with three significant digits for values from 1 to 999.
func appendDigits(b []byte, v float64) []byte {
	switch {
	case v < 9.995:
		return strconv.AppendFloat(b, v, 'f', 2, 64)
	case v < 99.95:
		return strconv.AppendFloat(b, v, 'f', 1, 64)
	default:
		return strconv.AppendFloat(b, v, 'f', 0, 64)
	}
}

// Count prints a number of things, or of things per second, without a unit: "812",
// "12.4k", "3.1M". Below 10 a fraction keeps one digit; what is not quite nothing is
// "<0.1".
func Count(n float64) string {
	if !valid(n) {
		return None
	}
	const suffixes = " kMGTPE"
	i := 0
	for i < len(suffixes)-1 && n >= 999.5 {
		n /= 1000
		i++
	}
	var buf [40]byte
	var b []byte
	switch {
	case i == 0 && n > 0 && n < 0.05:
		return "<0.1"
	case n >= 1e6:
		b = strconv.AppendFloat(buf[:0], n, 'g', 3, 64)
	case i > 0 && n < 99.95, i == 0 && n < 9.95 && n != math.Trunc(n):
		b = strconv.AppendFloat(buf[:0], n, 'f', 1, 64)
	default:
		b = strconv.AppendFloat(buf[:0], n, 'f', 0, 64)
	}
	if i > 0 {
		b = append(b, suffixes[i])
	}
	return string(b)
}
