package iperf

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"linerate/probes"
)

func TestTame(t *testing.T) {
	long := strings.Repeat("x", 300)
	good := probes.Host{Name: probes.Got("a\x1b[2J\u202eb"), OS: long, CPU: probes.CPU{Cores: 1024, FreqHz: probes.Got([]float64{1, 2})}}
	if err := tame(&good); err != nil || good.Name.Value != "a[2Jb" || len(good.OS) != tameText {
		t.Errorf("%v: %+v", err, good)
	}
	fine := probes.Adapter{
		Optics: probes.Got(probes.Optics{RxDBm: -3, LowDBm: -14}), WiFi: probes.Got(probes.WiFi{SignalDBm: -60}),
		Chain: []probes.Layer{{Name: "a\nb"}},
	}
	if err := tame(&fine); err != nil || fine.Chain[0].Name != "ab" {
		t.Errorf("%v: %+v", err, fine)
	}
	settings := map[string]probes.Setting{"a\x1b": {Value: "\x1b"}}
	if err := tame(&settings); err != nil || settings["a"] != (probes.Setting{}) || len(settings) != 1 {
		t.Errorf("%v: %+v", err, settings)
	}
	route := probes.Route{Dest: netip.MustParseAddr("fe80::1%e\x1bth0"), NIC: probes.Got(probes.NIC{})}
	if err := tame(&route); err != nil || route.Dest.Zone() != "eth0" {
		t.Errorf("%v: %v", err, route.Dest)
	}
	many := make(probes.Counters)
	for i := range 1025 {
		many[fmt.Sprint(i)] = 1
	}
	nan := 0.0
	nan /= nan
	for name, bad := range map[string]any{
		"negative float": &probes.NIC{SpeedBps: probes.Got(-1.0)},
		"NaN":            &probes.NIC{SpeedBps: probes.Got(nan)},
		"negative int":   &probes.NIC{MTU: probes.Got(-1)},
		"negative time":  &probes.Vitals{Window: -1},
		"core −2":        &probes.Vitals{Queues: probes.Got([]probes.QueueIRQ{{Core: -2}})},
		"long list":      &probes.CPU{FreqHz: probes.Got(make([]float64, 1025))},
		"many counters":  &probes.Vitals{TCP: probes.Got(many)},
		"too many cores": &probes.Host{CPU: probes.CPU{Cores: 1025}},
		"NaN margin":     &probes.Thermal{Margin: probes.Got(nan)},
	} {
		if err := tame(bad); err == nil {
			t.Errorf("%s passes: %+v", name, bad)
		}
	}
}

// TestTameReaches everything in the types that travel: a field that it could not set would
// end the program.
func TestTameReaches(t *testing.T) {
	var walk func(x reflect.Type, where string)
	walk = func(x reflect.Type, where string) {
		switch x {
		case reflect.TypeFor[time.Time](), reflect.TypeFor[netip.Addr]():
			return
		}
		switch x.Kind() {
		case reflect.Struct:
			for i := range x.NumField() {
				f := x.Field(i)
				if !f.IsExported() {
					t.Errorf("%s.%s is not exported", where, f.Name)
				}
				walk(f.Type, where+"."+f.Name)
			}
		case reflect.Slice, reflect.Map:
			walk(x.Elem(), where)
		case reflect.Pointer, reflect.Interface, reflect.Array, reflect.Func, reflect.Chan:
			t.Errorf("%s is a %v, which tame does not know", where, x.Kind())
		}
	}
	for name, x := range map[string]reflect.Type{
		"host": reflect.TypeFor[probes.Host](), "route": reflect.TypeFor[probes.Route](), "adapter": reflect.TypeFor[probes.Adapter](),
		"setting": reflect.TypeFor[probes.Setting](), "firewall": reflect.TypeFor[probes.Firewall](), "vitals": reflect.TypeFor[probes.Vitals](),
	} {
		walk(x, name)
	}
}
