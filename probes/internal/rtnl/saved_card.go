package rtnl

import (
	"context"
	"fmt"

	"linerate/probes"
)

// SavedCard is what a fixture says of the card behind an interface.
type SavedCard struct {
	Ethtool *Card        `json:"ethtool,omitempty"` // readings left out are untold
	Fixed   []string     `json:"fixed,omitempty"`   // offloads
	Below   *Below       `json:"below,omitempty"`
	WiFi    *probes.WiFi `json:"wifi,omitempty"`
}

// Card gives the saved answers of ethtool.
func (s *Saved) Card(name string) Card {
	l, err := s.find(name)
	if err == nil {
		err = errUntold
	}
	if l.SavedCard.Ethtool == nil {
		return NoCard(err)
	}
	c := *l.SavedCard.Ethtool
	untold(&c.Supported)
	untold(&c.Offered)
	untold(&c.Advertised)
	untold(&c.Autoneg)
	untold(&c.Rings)
	untold(&c.Channels)
	untold(&c.Pause)
	untold(&c.EEE)
	untold(&c.Optics)
	return c
}

// untold fills a reading that the file leaves out.
func untold[T any](r *probes.Reading[T]) {
	if r.Status == probes.NotRead {
		*r = probes.Unread[T](errUntold)
	}
}

// Fixed gives the saved list.
func (s *Saved) Fixed(name string) ([]string, error) {
	l, err := s.find(name)
	return l.SavedCard.Fixed, err
}

// Below gives the saved device.
func (s *Saved) Below(_ context.Context, name string) (Below, error) {
	l, err := s.find(name)
	if err != nil || l.SavedCard.Below == nil {
		return Below{}, err
	}
	return *l.SavedCard.Below, nil
}

// WiFi gives the saved radio link.
func (s *Saved) WiFi(_ context.Context, name string) (probes.WiFi, error) {
	l, err := s.find(name)
	if err == nil && l.SavedCard.WiFi == nil {
		err = fmt.Errorf("radio of %s: %w", name, errUntold)
	}
	if err != nil {
		return probes.WiFi{}, err
	}
	return *l.SavedCard.WiFi, nil
}
