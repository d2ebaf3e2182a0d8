//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd)

package sock

import (
	"fmt"
	"net"
)

// before refuses what must stand before connect and is missing here.
func (o Options) before(_ uintptr, _, _ string) error {
	switch {
	case o.Server:
		return nil // Apply warns
	case o.MSS > 0:
		return unsupported("-M")
	case o.BindDev != "":
		return unsupported("--bind-dev")
	case o.TOS > 0:
		return unsupported("-S")
	case o.Congestion != "":
		return unsupported("-C")
	case o.FlowLabel > 0:
		return unsupported("-L")
	}
	return nil
}

// after sets the buffers and refuses what is missing here.
func (o Options) after(c *net.TCPConn) (failed []error) {
	if o.Window > 0 {
		if err := c.SetWriteBuffer(o.Window); err != nil {
			failed = append(failed, fmt.Errorf("setting SO_SNDBUF to %d: %w", o.Window, err))
		}
		if err := c.SetReadBuffer(o.Window); err != nil {
			failed = append(failed, fmt.Errorf("setting SO_RCVBUF to %d: %w", o.Window, err))
		}
	}
	if o.Server && o.TOS > 0 {
		failed = append(failed, unsupported("-S"))
	}
	if o.Server && o.Congestion != "" {
		failed = append(failed, unsupported("-C"))
	}
	if o.FQRate > 0 {
		failed = append(failed, unsupported("--fq-rate"))
	}
	if o.UserTimeout > 0 {
		failed = append(failed, unsupported("--snd-timeout"))
	}
	return failed
}

// checkWindow reads the buffers back.
func (o Options) checkWindow(c *net.TCPConn) (warnings []error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return []error{err}
	}
	snd, rcv, err := buffers(raw)
	if err != nil {
		return []error{err}
	}
	if snd < o.Window {
		warnings = append(warnings, short("send", snd, o.Window, ""))
	}
	if rcv < o.Window {
		warnings = append(warnings, short("receive", rcv, o.Window, ""))
	}
	return warnings
}
