//go:build !linux

package sock

import "linerate/engine"

// Mem is told by Linux only.
func (c *Conn) Mem() (engine.SockMem, error) { return engine.SockMem{}, unsupported("SO_MEMINFO") }
