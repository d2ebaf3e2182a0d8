package chart

import (
	"math"
	"strconv"
)

// LabelWidth is the room for an axis label: "12.5M".
const LabelWidth = 5

// decades is the span of a logarithmic axis.
const decades = 4

// Axis maps values to heights. Values are bits per second; Div and Base are the unit
// system's: 1 and 1000 for bits, 8 and 1000 or 1024 for bytes.
type Axis struct {
	Top  float64 // the greatest value shown, after Div: a 1-2-5 step of Base
	Div  float64
	Base float64
	Log  bool
}

// height is the place of a value on the axis, from 0 to max().
func (a Axis) height(v float64) float64 {
	v /= a.Div
	if !a.Log {
		return v
	}
	return max(0, math.Log10(v/a.Top)+decades)
}

// max is the height of Top.
func (a Axis) max() float64 {
	if a.Log {
		return decades
	}
	return a.Top
}

// label prints the value at a height.
func (a Axis) label(h float64) string {
	if !a.Log {
		return Short(h, a.Base)
	}
	return Short(a.Top*math.Pow(10, h-decades), a.Base)
}

// divisions is into how many equal parts the labels divide an axis of the given number
// of intervals: so many that the labels are round and at least two rows apart.
func (a Axis) divisions(intervals int) int {
	choices := [...]int{5, 4, 2}
	if a.Log {
		choices = [...]int{4, 2, 1}
	} else {
		switch lead(a.Top, a.Base) {
		case 2:
			choices = [...]int{4, 2, 1}
		case 5:
			choices = [...]int{5, 2, 1}
		}
	}
	for _, n := range choices {
		if intervals%n == 0 && intervals/n >= 2 {
			return n
		}
	}
	return 1
}

// Short prints a value with its prefix in at most LabelWidth characters: "10G", "2.5M".
func Short(v, base float64) string {
	const prefixes = " kMGTPE"
	i := 0
	for i < len(prefixes)-1 && v >= base*0.9995 {
		v /= base
		i++
	}
	prec := 0
	if v < 99.5 {
		v = math.Round(v*100) / 100
		prec = -1
		if v >= 10 {
			v = math.Round(v*10) / 10
		}
	}
	s := strconv.FormatFloat(v, 'f', prec, 64)
	if len(s) > LabelWidth-1 {
		s = strconv.FormatFloat(v, 'g', 1, 64)
	}
	if i > 0 {
		s += prefixes[i : i+1]
	}
	return s
}
