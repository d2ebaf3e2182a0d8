package pressure

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"linerate/probes"
)

func TestThermal(t *testing.T) {
	const cpu, zone = "sys/devices/system/cpu/", "sys/class/thermal/thermal_zone"
	files := map[string]string{
		// Two packages of an Intel server, Linux 6.1; the count of a package is on each core.
		cpu + "cpu0/topology/physical_package_id":                    "0\n",
		cpu + "cpu0/thermal_throttle/core_throttle_count":            "3\n",
		cpu + "cpu0/thermal_throttle/package_throttle_count":         "100\n",
		cpu + "cpu0/thermal_throttle/core_throttle_total_time_ms":    "40\n",
		cpu + "cpu0/thermal_throttle/package_throttle_total_time_ms": "1000\n",
		cpu + "cpu1/topology/physical_package_id":                    "0\n",
		cpu + "cpu1/thermal_throttle/core_throttle_count":            "4\n",
		cpu + "cpu1/thermal_throttle/package_throttle_count":         "100\n",
		cpu + "cpu1/thermal_throttle/core_throttle_total_time_ms":    "2\n",
		cpu + "cpu1/thermal_throttle/package_throttle_total_time_ms": "1000\n",
		cpu + "cpu8/topology/physical_package_id":                    "1\n",
		cpu + "cpu8/thermal_throttle/core_throttle_count":            "0\n",
		cpu + "cpu8/thermal_throttle/package_throttle_count":         "9\n",
		cpu + "cpu8/thermal_throttle/core_throttle_total_time_ms":    "0\n",
		cpu + "cpu8/thermal_throttle/package_throttle_total_time_ms": "0\n",
		cpu + "cpu9/hotplug/state":                                   "0\n", // offline
		cpu + "cpufreq/policy0/scaling_cur_freq":                     "0\n",
		// The zone nearest to a trip point counts; a fan's does not.
		zone + "0/temp": "27800\n", zone + "0/trip_point_0_type": "critical\n", zone + "0/trip_point_0_temp": "105000\n",
		zone + "1/temp": "79000\n", zone + "1/trip_point_0_type": "active\n", zone + "1/trip_point_0_temp": "80000\n",
		zone + "1/trip_point_1_type": "passive\n", zone + "1/trip_point_1_temp": "95000\n",
		zone + "1/trip_point_2_type": "hot\n", zone + "1/trip_point_2_temp": "100000\n",
		zone + "2/temp": "99000\n", zone + "2/trip_point_0_type": "passive\n", zone + "2/trip_point_0_temp": "0\n", // x86_pkg_temp: not set
		zone + "3/temp": "99000\n", zone + "3/type": "iwlwifi_1\n", zone + "3/trip_point_0_type": "passive\n", zone + "3/trip_point_0_temp": "-32768000\n",
		zone + "4/temp": "-1\n", zone + "4/trip_point_0_type": "hot\n", zone + "4/trip_point_0_temp": "50000\n", // asleep
		"sys/class/thermal/cooling_device0/cur_state": "0\n",
	}
	dir := tree(t, files)
	r := NewAt(dir)
	got := r.Thermal()
	if want := (probes.Thermal{Events: probes.Got(uint64(116)), Throttled: probes.Got(1042 * time.Millisecond), Margin: probes.Got(16.0)}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	write(t, filepath.Join(dir, zone+"1/temp"), "96500\n")
	if m := r.Thermal().Margin; m != probes.Got(-1.5) {
		t.Errorf("above the trip point: %+v, want -1.5", m)
	}
}

// AMD and ARM have no counts, virtual machines not even zones.
func TestThermalOfOthers(t *testing.T) {
	arm := NewAt(tree(t, map[string]string{
		"sys/devices/system/cpu/cpu0/topology/physical_package_id": "0\n",
		"sys/class/thermal/thermal_zone0/temp":                     "61342\n",
		"sys/class/thermal/thermal_zone0/trip_point_0_type":        "critical\n",
		"sys/class/thermal/thermal_zone0/trip_point_0_temp":        "110000\n",
	})).Thermal()
	if arm.Events.Status != probes.Absent || arm.Throttled.Status != probes.Absent || !strings.Contains(arm.Events.Reason, "does not count") {
		t.Errorf("Raspberry Pi 4: %+v", arm)
	}
	if arm.Margin.Value < 48.6 || arm.Margin.Value > 48.7 {
		t.Errorf("Raspberry Pi 4: margin %+v, want 48.7", arm.Margin)
	}
	old := NewAt(tree(t, map[string]string{"sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count": "5\n"})).Thermal()
	if old.Events != probes.Got(uint64(5)) || old.Throttled.Status != probes.Absent || old.Margin.Status != probes.Absent {
		t.Errorf("a kernel that counts no times: %+v", old)
	}
	odd := NewAt(tree(t, map[string]string{"sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count": "many\n"})).Thermal()
	if odd.Events.Status != probes.Failed {
		t.Errorf("a damaged count: %+v", odd.Events)
	}
}

func FuzzDegrees(f *testing.F) {
	for _, s := range []string{"27800", "-273200", "0", "32767000", "x"} {
		f.Add(s)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		write(t, filepath.Join(dir, "temp"), text)
		d, err := degrees(os.DirFS(dir), "temp")
		if err == nil && (d <= 0 || d > 200) {
			t.Fatalf("%q is %v degrees", text, d)
		}
	})
}
