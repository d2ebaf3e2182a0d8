package wire

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// defaults is what an old client that sends nearly nothing means.
func defaults(change func(*Params)) Params {
	p := Params{Time: 10, Parallel: 1, Affinity: -1}
	if change != nil {
		change(&p)
	}
	return p
}

// Captured on loopback from iperf3 3.1.4 and 3.21 clients.
func TestParseParams(t *testing.T) {
	tests := []struct {
		name, in string
		want     Params
	}{
		{"3.1.4", `{"tcp":true,"omit":0,"time":1,"parallel":1,"len":131072,"client_version":"3.1.4"}`,
			defaults(func(p *Params) { p.Time, p.Len, p.ClientVersion = 1, 131072, "3.1.4" })},
		{"3.21 both ways", `{"tcp":true,"omit":0,"time":2,"num":0,"blockcount":0,"parallel":2,"bidirectional":true,"len":131072,"pacing_timer":1000,"client_version":"3.21"}`,
			defaults(func(p *Params) {
				p.Time, p.Parallel, p.Bidirectional, p.Len, p.PacingTimer, p.ClientVersion = 2, 2, true, 131072, 1000, "3.21"
			})},
		{"3.21 UDP reverse", `{"udp":true,"omit":0,"time":2,"num":0,"blockcount":0,"parallel":1,"reverse":true,"len":32768,"bandwidth":10000000,"pacing_timer":1000,"gso":0,"gso_dg_size":0,"gso_bf_size":65507,"gro":0,"gro_bf_size":65507,"udp_counters_64bit":1,"client_version":"3.21"}`,
			defaults(func(p *Params) {
				p.Protocol, p.Time, p.Reverse, p.Len, p.Bandwidth, p.PacingTimer = UDP, 2, true, 32768, 10000000, 1000
				p.Counters64, p.ClientVersion = true, "3.21"
			})},
		{"3.21 with many flags", `{"tcp":true,"omit":1,"time":2,"num":0,"blockcount":0,"MSS":1200,"nodelay":true,"parallel":1,"window":131072,"len":65536,"bandwidth":50000000,"fqrate":100000000,"pacing_timer":1000,"TOS":184,"title":"mytitle","extra_data":"xd","congestion":"reno","get_server_output":1,"repeating_payload":1,"zerocopy":1,"client_version":"3.21"}`,
			Params{Omit: 1, Time: 2, MSS: 1200, NoDelay: true, Parallel: 1, Window: 131072, Len: 65536, Bandwidth: 50000000,
				FQRate: 100000000, PacingTimer: 1000, TOS: 184, Title: "mytitle", ExtraData: "xd", Congestion: "reno",
				ServerOutput: true, Repeating: true, ZeroCopy: true, Affinity: -1, ClientVersion: "3.21"}},
		{"nothing at all", `{}`, defaults(nil)},
		{"false and null are not given", `{"tcp":true,"nodelay":false,"reverse":null,"time":null,"title":null}`, defaults(nil)},
		{"fractions are cut off", `{"time":2.9,"omit":0.9,"len":1e3}`, defaults(func(p *Params) { p.Time, p.Len = 2, 1000 })},
		{"exact beyond 2^53", `{"num":9007199254740993}`, defaults(func(p *Params) { p.Num = 9007199254740993 })},
		{"unknown keys", `{"x_foo":[1,{"y":2}],"sctp":false}`, defaults(nil)},
		{"escape codes go", `{"title":"\u001b[2Jt","client_version":"3.\u009b9"}`, defaults(func(p *Params) { p.Title, p.ClientVersion = "[2Jt", "3.9" })},
		{"side channel", `{"x_linerate":{"v":1}}`, defaults(func(p *Params) { p.Linerate = 1 })},
		{"side channel of another shape", `{"x_linerate":[7]}`, defaults(nil)},
		{"core 0 for the server", `{"server_affinity":0}`, defaults(func(p *Params) { p.Affinity = 0 })},
	}
	for _, test := range tests {
		got, err := ParseParams([]byte(test.in))
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s: error %v, want − got +\n%s", test.name, err, diff)
		}
	}
}

func TestParseParamsRefuses(t *testing.T) {
	tests := []struct {
		in   string
		key  string // "" for text that is no JSON object
		code Code
	}{
		{`{"tcp":1}`, "tcp", CodeRecvParams},
		{`{"nodelay":"true"}`, "nodelay", CodeRecvParams},
		{`{"parallel":"4"}`, "parallel", CodeRecvParams},
		{`{"parallel":true}`, "parallel", CodeRecvParams},
		{`{"title":5}`, "title", CodeRecvParams},
		{`{"get_server_output":true}`, "get_server_output", CodeRecvParams},
		{`{"tcp":true,"udp":true}`, "tcp", CodeProtocol},
		{`{"parallel":0}`, "parallel", CodeStreams},
		{`{"parallel":129}`, "parallel", CodeStreams},
		{`{"parallel":1e300}`, "parallel", CodeStreams},
		{`{"time":86401}`, "time", CodeDuration},
		{`{"time":-1}`, "time", CodeDuration},
		{`{"omit":601}`, "omit", CodeOmit},
		{`{"len":1048577}`, "len", CodeBlockSize},
		{`{"len":-5}`, "len", CodeBlockSize},
		{`{"udp":true,"len":15}`, "len", CodeUDPBlockSize},
		{`{"udp":true,"len":65508}`, "len", CodeUDPBlockSize},
		{`{"window":536870913}`, "window", CodeWindow},
		{`{"MSS":32768}`, "MSS", CodeMSS},
		{`{"burst":1001}`, "burst", CodeBurst},
		{`{"TOS":256}`, "TOS", CodeTOS},
		{`{"flowlabel":1048576}`, "flowlabel", CodeFlowLabel},
		{`{"server_affinity":1025}`, "server_affinity", CodeAffinity},
		{`{"num":-1}`, "num", CodeRecvParams},
		{`{"num":18446744073709551615}`, "num", CodeRecvParams},
		{`{"num":1e400}`, "num", CodeRecvParams},
		{`{"bandwidth":-1}`, "bandwidth", CodeRateLimit},
		{`{"congestion":"a name of far too many characters"}`, "congestion", CodeCongestion},
		{`{"congestion":"cu\u0000bic"}`, "congestion", CodeCongestion},
		{`{"authtoken":"` + strings.Repeat("A", maxToken+1) + `"}`, "authtoken", CodeAuth},
		{`[]`, "", 0},
		{`null`, "", 0},
		{`{`, "", 0},
		{`{"a":1}x`, "", 0},
		{``, "", 0},
		{strings.Repeat(`{"a":`, 20000), "", 0},
	}
	for _, test := range tests {
		_, err := ParseParams([]byte(test.in))
		name := test.in[:min(len(test.in), 60)]
		var field *FieldError
		switch {
		case err == nil:
			t.Errorf("%s: accepted", name)
		case test.key == "":
			if errors.As(err, &field) {
				t.Errorf("%s: want an error of the JSON, got %v", name, err)
			}
		case !errors.As(err, &field) || field.Key != test.key || field.Code != test.code:
			t.Errorf("%s: want key %q with code %d, got %v", name, test.key, test.code, err)
		}
	}
}

func TestParamsJSON(t *testing.T) {
	p := Params{Time: 2, Parallel: 1, Len: 131072, PacingTimer: 1000, Affinity: -1, ClientVersion: "3.21"}
	got, err := p.JSON()
	want := `{"tcp":true,"omit":0,"time":2,"num":0,"blockcount":0,"parallel":1,"len":131072,"pacing_timer":1000,"client_version":"3.21"}`
	if err != nil || string(got) != want {
		t.Errorf("the plainest test, as a 3.21 client sends it:\nwant %s\ngot  %s, %v", want, got, err)
	}

	full := Params{
		Protocol: UDP, Omit: 1, Time: 0, Num: 1 << 60, Blocks: 0, MSS: 1, NoDelay: true, Parallel: 128, Reverse: true,
		Bidirectional: true, MPTCP: true, Window: 1, Len: 16, Bandwidth: 1, FQRate: 1, PacingTimer: 1000, Burst: 1,
		TOS: 1, FlowLabel: 1, Title: `<"ü">`, ExtraData: "x", Congestion: "cubic", ServerOutput: true, Counters64: true,
		Repeating: true, ZeroCopy: true, DontFragment: true, SkipRxCopy: true, Affinity: 0, AuthToken: "t",
		ClientVersion: "v", Linerate: 1,
	}
	text, err := full.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "false") {
		t.Errorf("a flag that is off must be absent, got %s", text)
	}
	back, err := ParseParams(text)
	if diff := cmp.Diff(full, back); err != nil || diff != "" {
		t.Errorf("reading back all fields: error %v, want − got +\n%s", err, diff)
	}

	p.Title = strings.Repeat("x", MaxParamsSent)
	if _, err := p.JSON(); err == nil {
		t.Error("parameters over 8 KiB, which servers refuse, were written")
	}
}
