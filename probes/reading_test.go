package probes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnreadKeepsTheKindOfFailure(t *testing.T) {
	tests := []struct {
		err  error
		want Status
	}{
		{fs.ErrNotExist, Absent},
		{fmt.Errorf("reading /sys/x: %w", fs.ErrPermission), Denied},
		{errors.ErrUnsupported, Unsupported},
		{errors.New("damaged"), Failed},
		{Missing{Absent, "no cpufreq driver"}, Absent},
		{fmt.Errorf("driver of lo: %w", Missing{Unsupported, "Linux only"}), Unsupported},
		{Missing{Denied, "needs root"}, Denied},
		{Missing{Failed, "odd"}, Failed},
	}
	for _, tt := range tests {
		got := Unread[int](tt.err)
		if got.Status != tt.want || got.Reason != tt.err.Error() {
			t.Errorf("Unread(%v) = %+v, want status %v and the error's text", tt.err, got, tt.want)
		}
		if got.Known() || got.Why() == "" || got.Or(7) != 7 {
			t.Errorf("Unread(%v) passes for known: %+v", tt.err, got)
		}
	}
}

func TestReadingThroughJSON(t *testing.T) {
	for _, want := range []Reading[float64]{Got(9.41e9), Unknown[float64](Absent, "veth"), {}} {
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Reading[float64]
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	for want, r := range map[string]Reading[float64]{
		`{"value":0,"status":"ok"}`:           Got(0.0),
		`{"status":"absent","reason":"veth"}`: {Value: 7, Status: Absent, Reason: "veth"},
		`{"status":"not read"}`:               {},
	} {
		if text, err := json.Marshal(r); err != nil || string(text) != want {
			t.Errorf("%+v: got %s, error %v, want %s", r, text, err, want)
		}
	}
	var r Reading[float64]
	if err := json.Unmarshal([]byte(`{"status":"perhaps"}`), &r); err == nil {
		t.Errorf("an unknown status was read as %+v", r)
	}
}
