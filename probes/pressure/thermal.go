package pressure

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"linerate/probes"
	"linerate/probes/internal/kfs"
)

const (
	cpuFolder     = "sys/devices/system/cpu"
	thermalFolder = "sys/class/thermal"
)

// Thermal reads how often and how long the processor has slowed itself down for heat, and
// how far the hottest sensor is from where the kernel would.
//
// Sources: thermal_throttle of each core (Intel only), and the zones below
// /sys/class/thermal. A package's count is the same on all its cores and taken once.
func (r *Reader) Thermal() probes.Thermal {
	if err := kfs.LinuxOnly(); err != nil {
		return probes.Thermal{
			Events: probes.Unread[uint64](err), Throttled: probes.Unread[time.Duration](err), Margin: probes.Unread[float64](err),
		}
	}
	events, err := r.sumOverCores("throttle_count")
	ms, errTime := r.sumOverCores("throttle_total_time_ms")
	if errTime == nil && ms > maxMicroseconds/1000 {
		errTime = fmt.Errorf("throttled for %d ms is no time", ms)
	}
	return probes.Thermal{
		Events:    probes.Read(events, err),
		Throttled: probes.Read(time.Duration(ms)*time.Millisecond, errTime),
		Margin:    probes.Read(r.zones.margin(r.root)),
	}
}

// sumOverCores adds up core_WHAT of every core and package_WHAT of every package.
func (r *Reader) sumOverCores(what string) (total uint64, err error) {
	entries, err := fs.ReadDir(r.root, cpuFolder)
	if err != nil {
		return 0, kfs.Library(cpuFolder, "/sys is not there", err)
	}
	packages := map[int64]bool{}
	found := false
	for _, e := range entries {
		if _, err := strconv.Atoi(strings.TrimPrefix(e.Name(), "cpu")); err != nil {
			continue
		}
		folder := path.Join(cpuFolder, e.Name())
		n, err := kfs.Int(r.root, path.Join(folder, "thermal_throttle/core_"+what))
		if errors.Is(err, fs.ErrNotExist) { // offline, or a processor that does not count
			continue
		}
		if err != nil {
			return 0, err
		}
		found = true
		total += uint64(max(0, n))
		id, err := kfs.Int(r.root, path.Join(folder, "topology/physical_package_id"))
		if err != nil || packages[id] {
			continue
		}
		packages[id] = true
		if n, err := kfs.Int(r.root, path.Join(folder, "thermal_throttle/package_"+what)); err == nil {
			total += uint64(max(0, n))
		}
	}
	if !found {
		return 0, probes.Missing{Status: probes.Absent, Reason: "the processor does not count that it slows down for heat"}
	}
	return total, nil
}

// zones holds the trip points, in degrees, of every thermal zone that was seen. They do
// not move but by hand.
type zones map[string][]float64

// margin is the distance to the nearest trip point of any zone. A zone without one, as
// that of a battery or a radio, is not even asked for its temperature, which may wake a
// device.
func (z zones) margin(root fs.FS) (float64, error) {
	entries, err := fs.ReadDir(root, thermalFolder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, kfs.Error(thermalFolder, err)
	}
	nearest := math.Inf(1)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "thermal_zone") {
			continue
		}
		folder := path.Join(thermalFolder, e.Name())
		trips, ok := z[folder]
		if !ok {
			trips = tripPoints(root, folder)
			z[folder] = trips
		}
		if len(trips) == 0 {
			continue
		}
		temperature, err := degrees(root, path.Join(folder, "temp"))
		if err != nil {
			continue // a sensor that sleeps; others may tell
		}
		for _, trip := range trips {
			nearest = min(nearest, trip-temperature)
		}
	}
	if math.IsInf(nearest, 1) {
		return 0, probes.Missing{Status: probes.Absent, Reason: "no thermal zone with a temperature and a trip point"}
	}
	return nearest, nil
}

// tripPoints are those at which the kernel slows something down or gives up: passive, hot
// and critical. An active one switches a fan.
func tripPoints(root fs.FS, folder string) []float64 {
	var trips []float64
	for i := 0; ; i++ {
		prefix := path.Join(folder, fmt.Sprintf("trip_point_%d_", i))
		kind, err := kfs.Text(root, prefix+"type")
		if err != nil {
			return trips
		}
		if kind == "active" {
			continue
		}
		if trip, err := degrees(root, prefix+"temp"); err == nil {
			trips = append(trips, trip)
		}
	}
}

// degrees reads thousandths of a degree. What no processor can have is how drivers say
// that there is none: 0, -273200, 32767000 and the like.
func degrees(root fs.FS, file string) (float64, error) {
	n, err := kfs.Int(root, file)
	if err != nil {
		return 0, err
	}
	if n <= 0 || n > 200_000 {
		return 0, fmt.Errorf("reading /%s: %d is no temperature", file, n)
	}
	return float64(n) / 1000, nil
}
