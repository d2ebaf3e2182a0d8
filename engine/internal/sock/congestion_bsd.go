//go:build darwin || dragonfly || netbsd || openbsd

package sock

func setCongestion(int, string) error { return unsupported("-C") }

// Congestion is not told by the systems that this file is for.
func (c *Conn) Congestion() (string, error) { return "", unsupported("TCP_CONGESTION") }
