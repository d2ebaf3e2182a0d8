package session

import (
	"fmt"
	"strings"

	"linerate/engine"
	"linerate/engine/unit"
)

// changes says in words what differs between two specs: "streams 1→2, upload → both ways".
func changes(from, to engine.Spec) string {
	var parts []string
	say := func(differ bool, format string, args ...any) {
		if differ {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	say(from.Streams != to.Streams, "streams %d→%d", from.Streams, to.Streams)
	say(from.Direction != to.Direction, "%v → %v", from.Direction, to.Direction)
	say(from.Congestion != to.Congestion, "%s→%s", nameOr(from.Congestion, "default"), nameOr(to.Congestion, "default"))
	say(from.Bitrate != to.Bitrate, "rate %s→%s", rateText(from.Bitrate), rateText(to.Bitrate))
	say(from.Window != to.Window, "window %s→%s", sizeText(from.Window), sizeText(to.Window))
	say(from.BlockSize != to.BlockSize, "block %s→%s", sizeText(from.BlockSize), sizeText(to.BlockSize))
	say(from.MSS != to.MSS, "MSS %d→%d", from.MSS, to.MSS)
	rest := from
	rest.Streams, rest.Direction, rest.Congestion = to.Streams, to.Direction, to.Congestion
	rest.Bitrate, rest.Window, rest.BlockSize, rest.MSS = to.Bitrate, to.Window, to.BlockSize, to.MSS
	say(rest != to, "other options")
	return strings.Join(parts, ", ")
}

func nameOr(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func rateText(bps float64) string {
	if bps == 0 {
		return "unlimited"
	}
	return unit.Rate(bps)
}

func sizeText(n int) string {
	if n == 0 {
		return "default"
	}
	return unit.BytesIEC(uint64(n))
}
