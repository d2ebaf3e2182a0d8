package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"reflect"
	"testing"
	"unicode"
)

func FuzzParseParams(f *testing.F) {
	f.Add([]byte(`{"tcp":true,"omit":0,"time":1,"parallel":1,"len":131072,"client_version":"3.1.4"}`))
	f.Add([]byte(`{"udp":true,"len":16,"bandwidth":1e6,"udp_counters_64bit":1,"x_linerate":{"v":1},"title":"\u001b"}`))
	f.Add([]byte(`{"num":18446744073709551615,"server_affinity":-1.5}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := ParseParams(text)
		if err != nil {
			return
		}
		if p.Parallel < 1 || p.Parallel > maxParallel || p.Time < 0 || p.Len < 0 || p.Len > maxTCPBlock || p.Bandwidth < 0 {
			t.Errorf("accepted out of range: %+v", p)
		}
		for _, s := range []string{p.Title, p.ExtraData, p.ClientVersion, p.Congestion} {
			harmless(t, s, false)
		}
		again, err := p.JSON()
		if err != nil {
			return // too long for what servers accept
		}
		back, err := ParseParams(again)
		if err != nil || !reflect.DeepEqual(p, back) {
			t.Errorf("written and read back: %v\nwas %+v\nis  %+v", err, p, back)
		}
	})
}

func FuzzParseResults(f *testing.F) {
	f.Add([]byte(`{"cpu_util_total":1,"cpu_util_user":0,"cpu_util_system":1,"sender_has_retransmits":18446744073709551615,"congestion_used":"bbr","streams":[{"id":1,"bytes":1,"retransmits":-1,"jitter":0.1,"errors":0,"omitted_errors":0,"packets":0,"omitted_packets":0,"start_time":0,"end_time":2.0}]}`))
	f.Add([]byte(`{"server_output_json":{"start":{}},"streams":[]}`))
	f.Add([]byte(`{"server_output_text":"\u001b[2J\n","streams":[{"id":1,"bytes":1,"retransmits":0,"errors":0,"packets":0}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ParseResults(text)
		if err != nil {
			return
		}
		harmless(t, r.Congestion, false)
		harmless(t, r.OutputText, true)
		for _, s := range r.Streams {
			if s.ID < 1 || s.ID > MaxStreamID || s.EndTime < s.StartTime {
				t.Errorf("accepted %+v", s)
			}
		}
		again, err := r.JSON()
		if err != nil {
			t.Fatalf("writing what was read: %v", err)
		}
		back, err := ParseResults(again)
		if err != nil || len(back.Streams) != len(r.Streams) || back.CPUTotal != r.CPUTotal {
			t.Errorf("written and read back: %v\nwas %+v\nis  %+v", err, r, back)
		}
	})
}

func FuzzParseHello(f *testing.F) {
	f.Add([]byte(`{"v":1,"agent":"linerate 0.1","rx":5,"tx":7,"host":{"os":"linux"},"route":null,"settings":{"net.ipv4.tcp_rmem":{"value":"1 2 3","host":false}}}`))
	f.Add([]byte(`{"v":1e400,"rx":-1,"agent":"\u001b[2J"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := ParseHello(text)
		if err != nil {
			return
		}
		harmless(t, h.Agent, false)
		if h.Version < 1 || h.Received < 0 || h.Sent < h.Received {
			t.Errorf("accepted %+v", h)
		}
		again, err := h.JSON()
		if err != nil {
			t.Fatalf("writing what was read: %v", err)
		}
		if len(text) > MaxFrame {
			return
		}
		back, err := ParseHello(again)
		if err != nil || back.Agent != h.Agent || back.Received != h.Received || back.Sent != h.Sent || len(again) > MaxFrame {
			t.Errorf("written and read back: %v\nwas %+v\nis  %+v", err, h, back)
		}
	})
}

func FuzzParseSample(f *testing.F) {
	f.Add([]byte(`{"n":1,"m":1000,"w":1796037621866309,"d":500000,"c":[[0,10,20],[1]],"p":[1500,20],"cc":"cubic","s":[{"i":1,"b":99,"a":5,"t":[7,1,2,0],"k":37,"f":[280,1],"e":[1]},{"i":3,"b":0,"q":[1,2,3]}],"v":{"tcp":{}}}`))
	f.Add([]byte(`{"n":1,"m":-1,"w":0,"c":[[0,-1]],"s":[{"i":1,"b":1e99},{"i":1,"b":1}],"cy":"\u001b[2J"}`))
	f.Add([]byte(`{"n":1,"m":1,"w":1,"o":[{"n":"ksoftirqd/0","t":[15,0,930,0]},{"n":"\u001b[2J","t":[1,4000,0,-1]}],"x":{"out":{"value":4074,"status":"ok"}},"xt":"192.0.2.1"}`))
	f.Add([]byte(`{"n":1,"m":1,"w":1,"o":[],"oy":"\u001b","x":null,"xt":"\u001b"}`))
	f.Add([]byte(`{"n":18446744073709551615,"m":0,"w":0,"s":[{"i":1,"b":0,"y":"\u202e"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseSample(text)
		if err != nil {
			return
		}
		for _, why := range []string{s.CoresWhy, s.ProcessWhy, s.ThreadsWhy, s.OthersWhy, s.Congestion, s.PathTo} {
			harmless(t, why, false)
		}
		for _, o := range s.Others {
			harmless(t, o.Name, false)
			if len(s.Others) > MaxOthers || len(o.Name) > maxThread || len(o.Thread) != 4 || !within(o.Thread[:3], maxTID) {
				t.Errorf("accepted another program %v", o)
			}
		}
		if len(s.Cores) > MaxCores || len(s.Streams) > MaxStreams {
			t.Errorf("accepted %d cores, %d streams", len(s.Cores), len(s.Streams))
		}
		for _, c := range s.Cores {
			if c[0] < 0 || !within(c[1:], 1000) {
				t.Errorf("accepted core %v", c)
			}
		}
		for limit := 0; limit <= 2*len(text); limit += 1 + len(text)/4 {
			fit, err := s.Fit(limit, 1)
			if err != nil {
				t.Fatalf("writing what was read: %v", err)
			}
			back, err := ParseSample(fit.Text)
			if err != nil || back.Seq != s.Seq || len(back.Streams) != fit.Streams || (len(back.Vitals) > 0) != fit.Vitals || (back.Path == nil) != (s.Path == nil) {
				t.Errorf("in %d bytes: %v: %s", limit, err, fit.Text)
			}
		}
	})
}

func harmless(t *testing.T, s string, lines bool) {
	t.Helper()
	for _, r := range s {
		if unicode.IsControl(r) && !(lines && r == '\n') {
			t.Errorf("%q holds the control character %U", s, r)
		}
	}
}

func FuzzCookie(f *testing.F) {
	c := NewCookie()
	f.Add(c[:])
	f.Add([]byte("GET / HTTP/1.1\r\nHost: 10.0.0.1:5201\r\n\r\n"))
	f.Add([]byte("vm.1796037621.866309.5ed58a837535ce6\x00rest"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bytes.NewReader(in)
		c, err := ReadCookie(r)
		if err != nil {
			if !errors.Is(err, ErrCookie) && err != io.EOF && err != io.ErrUnexpectedEOF {
				t.Errorf("undeclared error %v", err)
			}
			return
		}
		if len(in)-r.Len() != CookieLen {
			t.Errorf("read %d bytes of a cookie of %d", len(in)-r.Len(), CookieLen)
		}
		for _, b := range []byte(c.String()) {
			if b <= ' ' || b > '~' {
				t.Errorf("cookie %q holds 0x%02x", c, b)
			}
		}
	})
}

// FuzzStates reads a whole control connection as a client does, in whatever order the
// bytes ask for.
func FuzzStates(f *testing.F) {
	f.Add([]byte("\x09\x0a\x01\x02\x0d\x00\x00\x00\x02{}\x0e"))
	f.Add([]byte("\xfe\x00\x00\x00\x8e"))
	f.Add([]byte("\x41\x00\x00\x00\x02{}\x0b"))
	f.Add([]byte("SSH-2.0-OpenSSH_9.2\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bufio.NewReader(bytes.NewReader(in))
		for {
			s, err := ReadState(r)
			var bad *StateError
			if err != nil {
				if !errors.As(err, &bad) && err != io.EOF {
					t.Errorf("undeclared error %v", err)
				}
				return
			}
			switch {
			case s.Frame():
				_, err = ReadFrame(r)
			case s == ServerError:
				_, err = ReadFault(r)
			case s == ExchangeResults:
				_, err = ReadJSON(r, MaxServerResults)
			}
			var size *SizeError
			if err != nil && !errors.As(err, &size) && err != io.EOF && err != io.ErrUnexpectedEOF {
				t.Errorf("undeclared error %v after %v", err, s)
			}
			if err != nil {
				return
			}
		}
	})
}
