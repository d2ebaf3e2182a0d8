package iperf

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/engine"
)

// TestNumbers sets every field of the struct to another value, so that one that is
// missing from the list, or there twice, shows.
func TestNumbers(t *testing.T) {
	var info engine.TCPInfo
	var mem engine.SockMem
	for _, v := range []reflect.Value{reflect.ValueOf(&info).Elem(), reflect.ValueOf(&mem).Elem()} {
		for i := range v.NumField() {
			switch f := v.Field(i); f.Kind() {
			case reflect.Bool:
				f.SetBool(true)
			case reflect.Int64:
				f.SetInt(int64(time.Duration(i+1) * time.Millisecond))
			case reflect.Int:
				f.SetInt(int64(i + 200))
			default:
				f.SetUint(uint64(i + 1))
			}
		}
	}
	var back engine.TCPInfo
	if !fromNumbers(infoFields(&back), toNumbers(infoFields(&info))) {
		t.Error("TCP_INFO does not fit")
	}
	if diff := cmp.Diff(info, back); diff != "" {
		t.Errorf("TCP_INFO: want − got +\n%s", diff)
	}
	var memBack engine.SockMem
	if !fromNumbers(memFields(&memBack), toNumbers(memFields(&mem))) {
		t.Error("SO_MEMINFO does not fit")
	}
	if diff := cmp.Diff(mem, memBack); diff != "" {
		t.Errorf("SO_MEMINFO: want − got +\n%s", diff)
	}
	if n := len(infoFields(&info)); n > 64 {
		t.Errorf("%d fields, wire accepts 64", n)
	}
}

func TestNumbersOfStrangers(t *testing.T) {
	at := func(place int, n uint64) []uint64 {
		list := make([]uint64, place+1)
		list[place] = n
		return list
	}
	tests := []struct {
		name string
		list []uint64
		fits bool
	}{
		{"none", nil, true},
		{"a later version's", at(63, 7), true},
		{"size", at(0, 280), true},
		{"size of a stranger", at(0, 1<<40), false},
		{"state", at(1, 256), false},
		{"app limited", at(9, 2), false},
		{"longest time", at(23, math.MaxInt64/1000), true},
		{"too long a time", at(23, math.MaxInt64/1000+1), false},
		{"unlimited pacing", at(32, math.MaxUint64), true},
		{"segments", at(36, 1<<32), false},
		{"timeouts", at(56, 1<<16), false},
	}
	for _, test := range tests {
		var info engine.TCPInfo
		if got := fromNumbers(infoFields(&info), test.list); got != test.fits {
			t.Errorf("%s: fits %v, want %v", test.name, got, test.fits)
		}
		if info.RTT < 0 {
			t.Errorf("%s: RTT %v", test.name, info.RTT)
		}
	}
	if got := toNumbers(infoFields(&engine.TCPInfo{Size: 104, RTT: 1500 * time.Nanosecond})); len(got) != 24 || got[23] != 1 {
		t.Errorf("numbers %v, want 24 with 1 µs at the end", got)
	}
}
