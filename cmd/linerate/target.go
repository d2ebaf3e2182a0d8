package main

import (
	"net/netip"
	"strconv"
	"strings"
)

// target is where a test goes.
type target struct {
	host string
	port int // 0: not given
}

// parseTarget reads HOST, HOST:PORT, an IPv6 address with or without zone, or one in
// brackets with a port. The host is not looked up.
func parseTarget(s string) (target, error) {
	bad := func(want, hint string) (target, error) {
		return target{}, usage(quote(s)+": "+want, hint)
	}
	if scheme, rest, found := strings.Cut(s, "://"); found {
		host, _, _ := strings.Cut(rest, "/")
		return bad("expected a host, not a "+scheme+" address", "try: linerate "+host)
	}
	if s == "" || strings.ContainsAny(s, " \t\r\n/\\@") {
		return bad("expected a host name or address, with :PORT if need be", "try: linerate 192.0.2.7 or linerate server.example:5201")
	}
	host, port := s, ""
	switch {
	case strings.HasPrefix(s, "["):
		inside, rest, closed := strings.Cut(s[1:], "]")
		if !closed || rest != "" && !strings.HasPrefix(rest, ":") {
			return bad("expected [IPv6 address]:PORT", "")
		}
		addr, err := netip.ParseAddr(inside)
		if err != nil || !addr.Is6() {
			return bad("expected an IPv6 address in the brackets", "")
		}
		host, port = inside, strings.TrimPrefix(rest, ":")
		if rest == ":" {
			return bad("expected a port after the colon", "")
		}
	case strings.Count(s, ":") == 1:
		host, port, _ = strings.Cut(s, ":")
		if host == "" || port == "" {
			return bad("expected HOST:PORT", "")
		}
	case strings.Count(s, ":") > 1:
		addr, err := netip.ParseAddr(s)
		if err != nil {
			return bad("expected an IPv6 address", "with a port it needs brackets: [fe80::1%eth0]:5201")
		}
		host = addr.String()
	}
	if port == "" {
		return target{host: host}, nil
	}
	n, err := strconv.Atoi(port)
	if err != nil || n < 1 || n > 65535 {
		return bad("expected a port from 1 to 65535 after the colon", "")
	}
	return target{host: host, port: n}, nil
}

// splitDevice takes iperf3's HOST%DEV apart. An IPv6 address keeps its zone, which is
// part of the address.
func splitDevice(s string) (host, dev string) {
	if addr, err := netip.ParseAddr(s); err == nil && addr.Is6() {
		return s, ""
	}
	host, dev, _ = strings.Cut(s, "%")
	return host, dev
}
