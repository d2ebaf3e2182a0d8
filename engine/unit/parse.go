package unit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// MaxBurst is the most blocks that ParseRateBurst accepts (iperf3: MAX_BURST).
const MaxBurst = 1000

// ParseSize reads a number of bytes as iperf3's -n, -k, -l and -w take it: K, M, G and T
// in steps of 1024, upper or lower case, with fractions ("1.5M"). A "B" or "iB" may
// follow. A fraction of a byte is cut off.
func ParseSize(s string) (uint64, error) {
	v, ok := parse(s, 1024, []string{"", "b", "ib"})
	// The first float64 that a uint64 cannot hold is 2⁶⁴ itself.
	if !ok || v >= 1<<64 {
		return 0, fmt.Errorf("%q: expected a size such as 4096, 128K or 1.5M (K, M, G and T are steps of 1024)", s)
	}
	return uint64(v), nil
}

// ParseRate reads bits per second as iperf3's -b takes them: K, M, G and T in steps of
// 1000, upper or lower case, with fractions ("2.5G"). "bit", "bit/s", "bits/sec" or "bps"
// may follow, so that what Rate prints is read back; a "B" may not: iperf3 reads 10MB as
// ten megabits, which nobody means who writes it.
func ParseRate(s string) (float64, error) {
	v, ok := parse(s, 1000, []string{"", "bit", "bits", "bit/s", "bits/s", "bits/sec", "bps"})
	if !ok {
		return 0, fmt.Errorf("%q: expected a rate in bits per second such as 500K, 100M or 2.5G (K, M, G and T are steps of 1000)", s)
	}
	return v, nil
}

// ParseRateBurst reads a rate with an optional burst, "100M/10": so many blocks are sent
// back to back between two looks at the clock. Burst is 0 when none is given.
func ParseRateBurst(s string) (rate float64, burst int, err error) {
	number, rest := s, ""
	hasBurst := false
	// The last slash: a rate may end in "bit/s".
	if i := strings.LastIndexByte(s, '/'); i >= 0 && !strings.HasPrefix(strings.ToLower(s[i+1:]), "s") {
		number, rest, hasBurst = s[:i], s[i+1:], true
	}
	if rate, err = ParseRate(number); err != nil {
		return 0, 0, err
	}
	if !hasBurst {
		return rate, 0, nil
	}
	if burst, err = strconv.Atoi(rest); err != nil || burst < 1 || burst > MaxBurst {
		return 0, 0, fmt.Errorf("%q: expected a burst of 1 to %d blocks after the slash, such as 100M/10", s, MaxBurst)
	}
	return rate, burst, nil
}

// parse reads a number, an optional K, M, G or T of the given step, and one of the
// tails, all in any case and with blanks between number and unit.
func parse(s string, step float64, tails []string) (float64, bool) {
	s = strings.TrimSpace(s)
	end := numberEnd(s)
	v, err := strconv.ParseFloat(s[:end], 64)
	if err != nil {
		return 0, false
	}
	rest := strings.ToLower(strings.TrimLeft(s[end:], " "))
	if rest != "" {
		if exp := strings.IndexByte("kmgt", rest[0]) + 1; exp > 0 {
			v *= math.Pow(step, float64(exp))
			rest = rest[1:]
		}
	}
	return v, slices.Contains(tails, rest) && valid(v)
}

// numberEnd finds the end of an unsigned decimal number with an optional exponent.
// strconv.ParseFloat alone would also take "inf", "nan" and hexadecimal.
func numberEnd(s string) int {
	i := 0
	digits := func() (n int) {
		for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			n++
		}
		return n
	}
	digits()
	if i < len(s) && s[i] == '.' {
		i++
		digits()
	}
	mark := i
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if digits() == 0 {
			return mark
		}
	}
	return i
}
