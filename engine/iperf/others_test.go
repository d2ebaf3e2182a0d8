package iperf

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/engine"
	"linerate/engine/internal/wire"
	"linerate/probes"
)

// sharedHost is a computer on which others work too.
type sharedHost struct {
	fakeHost
	others probes.Reading[[]probes.ThreadLoad]
}

func (h *sharedHost) Load() probes.Load {
	l := h.fakeHost.Load()
	l.Others = h.others
	return l
}

// TestSideOthers: what of the server's computer is not the test's reaches the client.
func TestSideOthers(t *testing.T) {
	var many []probes.ThreadLoad
	for i := range toldOthers + 3 {
		many = append(many, probes.ThreadLoad{TID: 9000 + i, Name: fmt.Sprintf("sh-%d", i), User: 1.5, System: 0.25, Core: i})
	}
	busy := []probes.ThreadLoad{{TID: 812, Name: "ffmpeg", User: 2.9, System: 0.04, Core: 1}, {TID: 15, Name: "ksoftirqd/0", System: 0.93}, {TID: 7, Name: "sh", User: 0.01, Core: -1}}
	untold := probes.Unknown[[]probes.ThreadLoad](probes.Absent, "hidepid")
	for name, test := range map[string]struct {
		there, here probes.Reading[[]probes.ThreadLoad]
	}{
		"some":    {probes.Got(busy), probes.Got(busy)},
		"none":    {probes.Got([]probes.ThreadLoad{}), probes.Got([]probes.ThreadLoad{})},
		"many":    {probes.Got(many), probes.Got(many[:toldOthers])},
		"unknown": {probes.Unknown[[]probes.ThreadLoad](probes.Denied, "hide\x1bpid"), untold},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := serve(t, &Server{Host: &sharedHost{others: test.there}})
				c, err := dialPipe(t.Context(), t, v.ln, testSpec(nil), Options{})
				if err != nil {
					t.Fatal(err)
				}
				if far, _ := c.Far(); far.Load.Others.Known() || far.Load.Others.Why() == "" {
					t.Errorf("before the first sample: %+v", far.Load.Others)
				}
				if r := c.Run(t.Context()); r.Err != nil {
					t.Fatal(r.Err)
				}
				v.stop(t)
				far, _ := c.Far()
				if diff := cmp.Diff(test.here, far.Load.Others); diff != "" {
					t.Errorf("want − got +\n%s", diff)
				}
			})
		})
	}
}

// TestOthersLeftOut: what one sample told stands for those that must do without, but not for
// ever.
func TestOthersLeftOut(t *testing.T) {
	start := time.Now()
	known := &wire.Sample{Others: []wire.Other{{Name: "ffmpeg", Thread: []int{812, 2900, 40, 1}}}}
	none, short := &wire.Sample{Others: []wire.Other{}}, &wire.Sample{}
	var o others
	for i, step := range []struct {
		s     *wire.Sample
		after time.Duration
		want  string
	}{
		{short, 0, "the far end does not tell"},
		{known, time.Second, "ffmpeg"},
		{short, 3 * time.Second, "ffmpeg"},
		{short, 6 * time.Second, "ffmpeg"},
		{short, 6*time.Second + 1, leftOut},
		{known, 7 * time.Second, "ffmpeg"},
		{none, 8 * time.Second, ""},
		{short, 9 * time.Second, ""},
		{&wire.Sample{OthersWhy: "hidepid"}, 10 * time.Second, "hidepid"},
		{short, 11 * time.Second, "hidepid"},
	} {
		got := o.hear(step.s, start.Add(step.after))
		said := got.Why()
		if list, ok := got.Get(); ok && len(list) > 0 {
			said = list[0].Name
		}
		if said != step.want {
			t.Errorf("step %d: %q, want %q", i, said, step.want)
		}
	}
}

var _ engine.HostSource = (*sharedHost)(nil)
