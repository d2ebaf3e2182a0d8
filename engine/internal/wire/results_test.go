package wire

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Captured on loopback.
func TestParseResults(t *testing.T) {
	tests := []struct {
		name, in string
		want     Results
	}{
		{"3.21 sender", `{"cpu_util_total":4.40,"cpu_util_user":0,"cpu_util_system":4.40,"sender_has_retransmits":1,"congestion_used":"bbr","streams":[{"id":1,"bytes":590217216,"retransmits":30,"jitter":0,"errors":0,"omitted_errors":0,"packets":0,"omitted_packets":0,"start_time":0,"end_time":2.008548}]}`,
			Results{CPUTotal: 4.40, CPUSystem: 4.40, Retransmits: Counted, Congestion: "bbr", Streams: []StreamResults{
				{ID: 1, Bytes: 590217216, Retransmits: 30, Omitted: true, Timed: true, EndTime: 2.008548}}}},
		{"3.12 receiver of Debian, −1 unsigned", `{"cpu_util_total":28.766837120227734,"cpu_util_user":1.4487219981048869,"cpu_util_system":27.318015168900956,"sender_has_retransmits":18446744073709551615,"congestion_used":"bbr","streams":[{"id":1,"bytes":1164705792,"retransmits":18446744073709551615,"jitter":0,"errors":0,"packets":0,"start_time":0,"end_time":1.000412}]}`,
			Results{CPUTotal: 28.766837120227734, CPUUser: 1.4487219981048869, CPUSystem: 27.318015168900956, Retransmits: OnlyReceives, Congestion: "bbr",
				Streams: []StreamResults{{ID: 1, Bytes: 1164705792, Retransmits: -1, Timed: true, EndTime: 1.000412}}}},
		{"the same rounded to 15 digits", `{"cpu_util_total":1,"cpu_util_user":0,"cpu_util_system":1,"sender_has_retransmits":1.84467440737096e+19,"streams":[]}`,
			Results{CPUTotal: 1, CPUSystem: 1, Retransmits: OnlyReceives}},
		{"3.1.4 server", `{"cpu_util_total":6.629590,"cpu_util_user":0.236098,"cpu_util_system":6.392949,"sender_has_retransmits":-1,"congestion_used":"bbr","streams":[{"id":1,"bytes":606858484,"retransmits":-1,"jitter":0,"errors":0,"packets":0}]}`,
			Results{CPUTotal: 6.629590, CPUUser: 0.236098, CPUSystem: 6.392949, Retransmits: OnlyReceives, Congestion: "bbr",
				Streams: []StreamResults{{ID: 1, Bytes: 606858484, Retransmits: -1}}}},
		{"UDP, CPU not a number", `{"cpu_util_total":null,"cpu_util_user":-0.01,"cpu_util_system":0,"sender_has_retransmits":-1,"streams":[{"id":1,"bytes":23494656,"retransmits":-1,"jitter":3.4e-05,"errors":48,"omitted_errors":2,"packets":765,"omitted_packets":9,"start_time":0,"end_time":2.018634}]}`,
			Results{Retransmits: OnlyReceives, Streams: []StreamResults{
				{ID: 1, Bytes: 23494656, Retransmits: -1, Jitter: 3.4e-05, Errors: 48, OmittedErrors: 2, Packets: 765, OmittedPackets: 9, Omitted: true, Timed: true, EndTime: 2.018634}}}},
		{"server output", `{"cpu_util_total":0,"cpu_util_user":0,"cpu_util_system":0,"sender_has_retransmits":0,"server_output_text":"a\n\u001b[2Jb\n","streams":[]}`,
			Results{OutputText: "a\n[2Jb\n"}},
		{"a clock that was set back", `{"sender_has_retransmits":0,"streams":[{"id":1,"bytes":1,"retransmits":0,"errors":0,"packets":0,"start_time":0,"end_time":-3}]}`,
			Results{Streams: []StreamResults{{ID: 1, Bytes: 1}}}},
	}
	for _, test := range tests {
		got, err := ParseResults([]byte(test.in))
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s: error %v, want − got +\n%s", test.name, err, diff)
		}
	}
}

func TestParseResultsRefuses(t *testing.T) {
	stream := func(s string) string { return `{"streams":[` + s + `]}` }
	tests := map[string]string{
		`{}`:             "streams",
		`{"streams":{}}`: "streams",
		`{"streams":5}`:  "streams",
		`{"streams":[` + strings.Repeat(`{},`, 256) + `{}]}`:                                                                          "streams",
		`{"cpu_util_total":"1","streams":[]}`:                                                                                         "cpu_util_total",
		`{"congestion_used":1,"streams":[]}`:                                                                                          "congestion_used",
		`{"sender_has_retransmits":2,"streams":[]}`:                                                                                   "sender_has_retransmits",
		stream(`{"bytes":1,"retransmits":0,"errors":0,"packets":0}`):                                                                  "id",
		stream(`{"id":0,"bytes":1,"retransmits":0,"errors":0,"packets":0}`):                                                           "id",
		stream(`{"id":1e99,"bytes":1,"retransmits":0,"errors":0,"packets":0}`):                                                        "id",
		stream(`{"id":1,"bytes":-1,"retransmits":0,"errors":0,"packets":0}`):                                                          "bytes",
		stream(`{"id":1,"retransmits":0,"errors":0,"packets":0}`):                                                                     "bytes",
		stream(`{"id":1,"bytes":1,"errors":0,"packets":0}`):                                                                           "retransmits",
		stream(`{"id":1,"bytes":1,"retransmits":0,"errors":0,"packets":0,"jitter":[]}`):                                               "jitter",
		stream(`{"id":1,"bytes":1,"retransmits":0,"errors":0,"packets":0},{"id":1,"bytes":1,"retransmits":0,"errors":0,"packets":0}`): "id",
	}
	for in, key := range tests {
		_, err := ParseResults([]byte(in))
		var field *FieldError
		if !errors.As(err, &field) || field.Key != key || field.Code != CodeRecvResults {
			t.Errorf("%.90s: want an error at %q, got %v", in, key, err)
		}
	}
	for _, in := range []string{``, `null`, `[]`, `{"streams":[1]}`, `{"streams":[null]}`, `nan`} {
		if _, err := ParseResults([]byte(in)); err == nil {
			t.Errorf("%q: accepted", in)
		}
	}
}

func TestResultsJSON(t *testing.T) {
	r := Results{CPUTotal: 4.4, CPUSystem: 4.4, Retransmits: Counted, Congestion: "cubic", Streams: []StreamResults{
		{ID: 1, Bytes: 1 << 62, Retransmits: 3, Omitted: true, Timed: true, EndTime: 2.5},
		{ID: 3, Bytes: 0, Retransmits: -1, Omitted: true, Timed: true, EndTime: 2.5},
	}}
	text, err := r.JSON()
	want := `{"cpu_util_total":4.4,"cpu_util_user":0,"cpu_util_system":4.4,"sender_has_retransmits":1,"congestion_used":"cubic","streams":[` +
		`{"id":1,"bytes":4611686018427387904,"retransmits":3,"jitter":0,"errors":0,"omitted_errors":0,"packets":0,"omitted_packets":0,"start_time":0,"end_time":2.5},` +
		`{"id":3,"bytes":0,"retransmits":-1,"jitter":0,"errors":0,"omitted_errors":0,"packets":0,"omitted_packets":0,"start_time":0,"end_time":2.5}]}`
	if err != nil || string(text) != want {
		t.Errorf("want %s\ngot  %s, %v", want, text, err)
	}
	back, err := ParseResults(text)
	if diff := cmp.Diff(r, back); err != nil || diff != "" {
		t.Errorf("reading it back: error %v, want − got +\n%s", err, diff)
	}

	r.OutputJSON = json.RawMessage(`{"end":{}}`)
	text, err = r.JSON()
	if err != nil || !strings.Contains(string(text), `"server_output_json":{"end":{}}`) {
		t.Errorf("a server's JSON output is missing: %s, %v", text, err)
	}
	r.OutputJSON, r.OutputText = nil, "out\n"
	text, err = r.JSON()
	if err != nil || !strings.Contains(string(text), `"server_output_text":"out\n"`) {
		t.Errorf("a server's text output is missing: %s, %v", text, err)
	}
}
