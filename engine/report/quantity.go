package report

import "strconv"

// The quantities of iperf3's text. Amounts are bytes in steps of 1024, adaptive rates
// bits in steps of 1000, so that 6.00 MBytes in one second are 50.3 Mbits/sec. Numbers
// are at least four columns wide and have three digits, or four from 1000 to 1023.

var (
	byteLabels = [...]string{"Bytes", "KBytes", "MBytes", "GBytes", "TBytes"}
	bitLabels  = [...]string{"bits", "Kbits", "Mbits", "Gbits", "Tbits"}
)

// amount prints bytes as the columns Transfer and Cwnd do.
func amount(bytes float64) string {
	i := 0
	for bytes >= 1024 && i < len(byteLabels)-1 {
		bytes /= 1024
		i++
	}
	return fourWide(bytes) + " " + byteLabels[i]
}

// rate prints bytes per second as the column Bitrate does: format is 0 for adaptive
// bits, or one of -f's letters: kmgt for bits in a fixed unit, KMGT for bytes.
func rate(bytesPerSecond float64, format byte) string {
	v, step, labels, unit := bytesPerSecond*8, 1000.0, &bitLabels, -1
	switch format {
	case 'k', 'm', 'g', 't':
		unit = unitIndex(format)
	case 'K', 'M', 'G', 'T':
		v, step, labels, unit = bytesPerSecond, 1024, &byteLabels, unitIndex(format+'a'-'A')
	}
	i := 0
	for i != unit && (unit >= 0 || v >= step) && i < len(labels)-1 {
		v /= step
		i++
	}
	return fourWide(v) + " " + labels[i] + "/sec"
}

func unitIndex(lower byte) int {
	switch lower {
	case 'k':
		return 1
	case 'm':
		return 2
	case 'g':
		return 3
	}
	return 4
}

func fourWide(v float64) string {
	decimals := 0
	switch {
	case v < 9.995:
		decimals = 2
	case v < 99.95:
		decimals = 1
	}
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if n := 4 - len(s); n > 0 {
		s = "    "[:n] + s
	}
	return s
}
