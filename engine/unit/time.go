package unit

import (
	"strconv"
	"time"
)

// Duration prints a time span for people: "3 µs", "0.31 ms", "12.4 ms", "1.20 s", and
// from a minute on minutes and seconds, "2:41", "1:02:41". Zero is "0 ms".
func Duration(d time.Duration) string {
	var buf [32]byte
	b := buf[:0]
	switch {
	case d < 0:
		return None
	case d == 0:
		return "0 ms"
	case d < time.Microsecond:
		return string(append(strconv.AppendInt(b, int64(d), 10), " ns"...))
	case d < 10*time.Microsecond:
		return string(append(strconv.AppendInt(b, int64(d.Round(time.Microsecond)/time.Microsecond), 10), " µs"...))
	case d < 999500*time.Microsecond:
		return string(append(appendDigits(b, float64(d)/1e6), " ms"...))
	case d < 59950*time.Millisecond:
		return string(append(appendDigits(b, float64(d)/1e9), " s"...))
	}
	return string(appendClock(b, int64(d.Round(time.Second)/time.Second), false))
}

// Clock prints how long something has run, in whole seconds that have passed: "01:23",
// from an hour on "1:02:41".
func Clock(d time.Duration) string {
	if d < 0 {
		return None
	}
	var buf [32]byte
	return string(appendClock(buf[:0], int64(d/time.Second), true))
}

func appendClock(b []byte, seconds int64, pad bool) []byte {
	h, m, s := seconds/3600, seconds/60%60, seconds%60
	if h > 0 {
		b = strconv.AppendInt(b, h, 10)
		b = append(b, ':')
		pad = true
	}
	if pad && m < 10 {
		b = append(b, '0')
	}
	b = strconv.AppendInt(b, m, 10)
	b = append(b, ':')
	if s < 10 {
		b = append(b, '0')
	}
	return strconv.AppendInt(b, s, 10)
}
