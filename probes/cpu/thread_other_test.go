//go:build !linux

package cpu

import "testing"

func threadID() int { return 0 }

func nameThread(*testing.T, string) {}
