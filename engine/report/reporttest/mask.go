// Package reporttest compares reports that differ only in what two runs of the same test
// must differ in. Tests of engine/report use it on captured output of iperf3, tests of
// cmd/linerate on a live one.
package reporttest

import "regexp"

// Mask replaces, in iperf3's text, JSON or JSON stream, the digits of times, bytes, rates,
// counts of retransmits, windows, CPU use and ports, the cookie, the date and the program's
// version. What is left must be equal to the character: words, order, socket numbers,
// columns, trailing blanks. A number that breaks the width of its column is left as it is,
// so that it shows as a difference.
func Mask(s string) string {
	for _, m := range masks {
		s = m.pattern.ReplaceAllString(s, m.with)
	}
	return s
}

type mask struct {
	pattern *regexp.Regexp
	with    string
}

func text(pattern, with string) mask { return mask{regexp.MustCompile(`(?m)` + pattern), with} }

// The order matters: each pattern sees what the ones before it left.
var masks = []mask{
	// "%6.2f-%-6.2f sec": a start of up to 999 s fills its six columns, so does an end.
	text(`\](\[..-.\])? (?:  \d|  ?\d\d|\d\d\d)\.\d\d-(?:\d\.\d\d  |\d\d\.\d\d |\d\d\d\.\d\d) sec`, `]$1 <start>-<end> sec`),
	// Transfer, Bitrate and Cwnd: four columns, five digits and more in fixed units.
	text(`  (?:[\d.]{4}| \d{3}|\d{5,}) [KMGT]?(Bytes|bits)/sec`, `  <rate> $1/sec`),
	text(`  (?:[\d.]{4}| \d{3}) [KMGT]?Bytes`, `  <bytes>`),
	// Retr: "%3d".
	text(`(<rate> (?:bits|Bytes)/sec)  (?:  \d| \d\d|\d{3,})(   <bytes>| {12}| {13})`, `$1  <n>$2`),
	text(`port \d+`, `port <port>`),
	text(`Server listening on \d+`, `Server listening on <port>`),
	text(`Cookie: [a-z2-7]{36}$`, `Cookie: <cookie>`),
	text(`MSS:? \d+`, `MSS <mss>`),
	text(`\d+\.\d%(u|s)?`, `<percent>$1`),
	text(`Time: ...,.* GMT$`, `Time: <time>`),
	text(`^((?:.*:  )?)(?:iperf|linerate) \d\S*$`, `$1<version>`),

	text(`("(?:start|end|seconds|bytes|bits_per_second|retransmits|snd_cwnd|snd_wnd|rtt|rttvar|pmtu|`+
		`max_snd_cwnd|max_snd_wnd|max_rtt|min_rtt|mean_rtt|(?:host|remote)_(?:total|user|system)|`+
		`local_port|remote_port|port|timesecs|tcp_mss_default|sndbuf_actual|rcvbuf_actual)":\t?)-?\d[\d.e+-]*`, `$1<n>`),
	text(`("cookie":\t?)"[a-z2-7]{36}"`, `$1"<cookie>"`),
	text(`("time":\t?)"...,[^"]* GMT"`, `$1"<time>"`),
	text(`("version":\t?)"[^"]*"`, `$1"<version>"`),
}
