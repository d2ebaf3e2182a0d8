package engine

import (
	"testing"
	"time"
)

func TestSeriesColumnsAggregate(t *testing.T) {
	r := NewRecorder(FullHistory)
	for i := range 100 {
		v := 10.0
		if i == 42 {
			v = 0
		}
		r.Add(time.Duration(i)*100*time.Millisecond, v)
	}
	r.Add(10*time.Second, 10)
	cols := make([]Point, 10)
	r.Series().Columns(0, 10*time.Second, cols)
	for i, c := range cols {
		if c.Gap() {
			t.Fatalf("column %d is a gap", i)
		}
		if i == 4 {
			if c.Min != 0 || c.Max != 10 || c.Mean != 9 {
				t.Errorf("column 4 = %+v, want the dip: 0, 9, 10", c)
			}
		} else if c.Min != 10 || c.Max != 10 {
			t.Errorf("column %d = %+v, want 10", i, c)
		}
	}
}

func TestSeriesIsImmutable(t *testing.T) {
	r := NewRecorder(ShortHistory)
	for i := range 300 {
		r.Add(time.Duration(i)*time.Second, float64(i))
	}
	before := r.Series()
	a := make([]Point, 20)
	before.Columns(before.End()-20*time.Second, before.End(), a)
	for i := 300; i < 2000; i++ {
		r.Add(time.Duration(i)*time.Second, -1)
	}
	b := make([]Point, 20)
	before.Columns(before.End()-20*time.Second, before.End(), b)
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("column %d changed from %v to %v after later samples", i, a[i], b[i])
		}
	}
}

func TestSeriesGapsAndPauses(t *testing.T) {
	r := NewRecorder(ShortHistory)
	r.Add(0, 1)
	r.Add(5*time.Second, 2)
	r.Add(6*time.Second, 3)
	r.Add(7*time.Second, 3)
	c := make([]Point, 7)
	r.Series().Columns(0, 7*time.Second, c)
	for i, p := range c {
		if want := i >= 1 && i <= 4; p.Gap() != want {
			t.Errorf("second %d: gap %v, want %v", i, p.Gap(), want)
		}
	}
	r.Add(10*time.Hour, 9)
	r.Add(10*time.Hour+time.Second, 9)
	c = c[:1]
	s := r.Series()
	if s.Columns(10*time.Hour, 10*time.Hour+time.Second, c); c[0].Mean != 9 {
		t.Errorf("after a long pause: %v, want 9", c[0])
	}
	if n := len(s.levels[0].chunks); n > 2 {
		t.Errorf("%d chunks after a long pause, want the old ones dropped", n)
	}
}

func TestSeriesCoarserWhenOld(t *testing.T) {
	r := NewRecorder(FullHistory)
	for ms := 0; ms < 30*60*1000; ms += 100 {
		r.Add(time.Duration(ms)*time.Millisecond, float64(ms/60000))
	}
	c := make([]Point, 30)
	r.Series().Columns(0, 30*time.Minute, c)
	for i, p := range c {
		if p.Gap() || p.Mean != float32(i) {
			t.Fatalf("minute %d = %v, want %d", i, p, i)
		}
	}
}

func TestEmptySeries(t *testing.T) {
	c := make([]Point, 3)
	Series{}.Columns(0, time.Second, c)
	for _, p := range c {
		if !p.Gap() {
			t.Fatalf("empty series gave %v", p)
		}
	}
	if got := (Series{}).End(); got != 0 {
		t.Errorf("End of an empty series = %v", got)
	}
}

// A window that begins before the session must not be read from the coarsest level.
func TestSeriesFineWhenYoung(t *testing.T) {
	for _, begin := range []time.Duration{0, 3500 * time.Millisecond} {
		r := NewRecorder(FullHistory)
		for i := range 300 {
			r.Add(begin+time.Duration(i)*100*time.Millisecond, float64(i%10))
		}
		cols := make([]Point, 60)
		r.Series().Columns(-30*time.Second, 30*time.Second, cols)
		if c := cols[59]; c.Gap() {
			t.Errorf("begun at %v: the last second is a gap", begin)
		}
		if c := cols[50]; c.Min != 0 || c.Max != 9 {
			t.Errorf("begun at %v: column 50 = %+v, want 0 to 9 of its ten samples", begin, c)
		}
	}
}
