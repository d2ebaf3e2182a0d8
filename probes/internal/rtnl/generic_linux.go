//go:build linux

package rtnl

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"linerate/probes"
)

// generic is one socket to one family of generic netlink, for one caller.
type generic struct {
	sockets map[int]*nl.SocketHandle
	family  int
}

// dialGeneric opens a socket and looks the family up. A family that this kernel does not
// have is fs.ErrNotExist. Asking for one makes the kernel load its module, so ask only
// about devices that need it.
func dialGeneric(ctx context.Context, family string) (*generic, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := nl.Subscribe(unix.NETLINK_GENERIC) // to nothing: this only opens it
	if err != nil {
		return nil, fmt.Errorf("opening netlink: %w", err)
	}
	g := &generic{sockets: map[int]*nl.SocketHandle{unix.NETLINK_GENERIC: {Socket: s}}}
	wait := patience
	if deadline, ok := ctx.Deadline(); ok {
		wait = max(time.Until(deadline), time.Millisecond)
	}
	limit := unix.NsecToTimeval(int64(wait))
	err = errors.Join(s.SetReceiveTimeout(&limit), s.SetSendTimeout(&limit))
	if err == nil {
		g.family, err = g.lookUp(family)
	}
	if err != nil {
		g.Close()
		return nil, err
	}
	return g, nil
}

func (g *generic) Close() { g.sockets[unix.NETLINK_GENERIC].Close() }

func (g *generic) lookUp(family string) (int, error) {
	answer, err := g.ask(nl.GENL_ID_CTRL, 0, nl.GENL_CTRL_CMD_GETFAMILY, nl.NewRtAttr(nl.GENL_CTRL_ATTR_FAMILY_NAME, nl.ZeroTerminated(family)))
	if errors.Is(err, unix.ENOENT) {
		return 0, probes.Missing{Status: probes.Absent, Reason: "this kernel has no " + family}
	}
	if err != nil {
		return 0, fmt.Errorf("looking up %s: %w", family, err)
	}
	for _, m := range answer {
		if len(m) < genericHeader {
			continue
		}
		for kind, v := range attributes(m[genericHeader:]) {
			if kind == nl.GENL_CTRL_ATTR_FAMILY_ID && len(v) >= 2 {
				return int(binary.NativeEndian.Uint16(v)), nil
			}
		}
	}
	return 0, fmt.Errorf("looking up %s: %w", family, errShort)
}

// dump asks for everything of one interface, whose index goes into attribute where.
func (g *generic) dump(command uint8, where, index int) ([][]byte, error) {
	return g.ask(g.family, unix.NLM_F_DUMP, command, nl.NewRtAttr(where, nl.Uint32Attr(uint32(index))))
}

// get asks for one answer about an interface.
func (g *generic) get(command uint8, where, index int) ([][]byte, error) {
	return g.ask(g.family, 0, command, nl.NewRtAttr(where, nl.Uint32Attr(uint32(index))))
}

func (g *generic) ask(family, flags int, command uint8, attr *nl.RtAttr) ([][]byte, error) {
	request := nl.NewNetlinkRequest(family, flags)
	request.Sockets = g.sockets
	request.AddData(&nl.Genlmsg{Command: command, Version: 1})
	request.AddData(attr)
	return request.Execute(unix.NETLINK_GENERIC, uint16(family))
}
