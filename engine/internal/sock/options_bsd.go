//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package sock

import "time"

const (
	bufferFactor = 1
	sndLimit     = "kern.ipc.maxsockbuf"
	rcvLimit     = "kern.ipc.maxsockbuf"
	mappedTOS    = false
)

func setPacing(int, float64) error { return unsupported("--fq-rate") }

func setUserTimeout(int, time.Duration) error { return unsupported("--snd-timeout") }

func connectLabelled(int, string, int) error { return unsupported("-L") }
