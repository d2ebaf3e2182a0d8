package session

import (
	"testing"
	"time"

	"linerate/probes"
)

// missed is a reading of a second with so many packets missed since the interface came up.
func missed(at time.Time, n uint64) probes.Vitals {
	return probes.Vitals{At: at, Link: probes.Got(probes.Counters{"rx_missed_errors": n})}
}

// What has been lost is that of the running step, over more readings than are kept.
func TestLostInTheStep(t *testing.T) {
	begin := time.Unix(1000, 0)
	var v vitals
	if r := v.lost(begin); r.Known() {
		t.Errorf("before a reading: %+v", r)
	}
	v.add(missed(begin.Add(-time.Second), 100))
	if r := v.lost(begin); r.Known() {
		t.Errorf("with a reading from before the step: %+v", r)
	}
	for i := range 20 {
		v.add(missed(begin.Add(time.Duration(i)*time.Second), 110+uint64(i)))
		if r := v.lost(begin); r.Value.RxMissed != uint64(i) || !r.Known() {
			t.Errorf("after %d s: %+v, want %d", i, r, i)
		}
	}
	next := begin.Add(19500 * time.Millisecond)
	if r := v.lost(next); r.Known() {
		t.Errorf("at the begin of the next step: %+v", r)
	}
	v.add(missed(next.Add(time.Second), 500))
	v.add(missed(next.Add(2*time.Second), 507))
	if r := v.lost(next); r.Value.RxMissed != 7 || !r.Value.At.Equal(next.Add(2*time.Second)) {
		t.Errorf("in the next step: %+v, want 7", r)
	}
}
