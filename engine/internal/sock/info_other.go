//go:build !(linux || darwin || freebsd || windows)

package sock

import "linerate/engine"

// Info is not told by the systems that this file is for.
func (c *Conn) Info() (engine.TCPInfo, error) { return engine.TCPInfo{}, unsupported("TCP_INFO") }
