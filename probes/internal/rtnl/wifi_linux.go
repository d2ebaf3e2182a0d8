//go:build linux

package rtnl

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"linerate/probes"
)

// WiFi asks nl80211 about the radio link of an interface. Drivers without it, which used
// the wireless extensions, have left the kernel's tree.
func (Kernel) WiFi(ctx context.Context, name string) (probes.WiFi, error) {
	link, err := Kernel{}.Link(ctx, name)
	if err != nil {
		return probes.WiFi{}, err
	}
	g, err := dialGeneric(ctx, unix.NL80211_GENL_NAME)
	if err != nil {
		return probes.WiFi{}, fmt.Errorf("radio of %s: %w", name, err)
	}
	defer g.Close()
	stations, err := g.dump(unix.NL80211_CMD_GET_STATION, wlanIfindex, link.Index)
	if errors.Is(err, unix.EOPNOTSUPP) {
		err = errUntold
	}
	if err != nil {
		return probes.WiFi{}, fmt.Errorf("radio of %s: %w", name, err)
	}
	w, err := oneStation(stations)
	if err != nil {
		return w, err
	}
	w.PowerSave = told("power save", name, func(string) (bool, error) {
		messages, err := g.get(unix.NL80211_CMD_GET_POWER_SAVE, wlanIfindex, link.Index)
		if errors.Is(err, unix.EOPNOTSUPP) {
			return false, errUntold
		}
		if err != nil {
			return false, err
		}
		return parsePowerSave(messages)
	})
	return w, nil
}
