package sock

import (
	"runtime"
	"testing"
)

func TestReserve(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	most := 4*runtime.NumCPU() + 8
	check := func(when string, procs int, room bool) {
		t.Helper()
		if got := runtime.GOMAXPROCS(0); got != procs {
			t.Errorf("%s: GOMAXPROCS %d, want %d", when, got, procs)
		}
		if got := roomy.Load(); got != room {
			t.Errorf("%s: room for every thread %v, want %v", when, got, room)
		}
	}
	one := Reserve(1)
	check("one thread", 4, true)
	many := Reserve(500)
	check("501 threads", most, false)
	many()
	check("one again", 4, true)
	many() // changes nothing
	check("released twice", 4, true)
	fill := Reserve(most - 4)
	check("as many as fit", most, true)
	one()
	check("one less", most-1, true)
	fill()
	check("none", before, false)
	Reserve(0)()
	check("nothing reserved", before, false)
}
