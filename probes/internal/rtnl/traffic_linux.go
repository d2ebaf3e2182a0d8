//go:build linux

package rtnl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"linerate/probes"
)

// Traffic asks RTM_GETLINK for one interface and dumps RTM_GETQDISC, with one socket.
// Where there is an HTB, its classes are dumped too, for they hold its rates.
//
// The netlink library's own decoding is not used here: it does not know the rate of cake,
// the last fields of the statistics, or the change count of the carrier, and for all of a
// link's attributes it takes ten times as long.
func (Kernel) Traffic(ctx context.Context, name string) (Traffic, error) {
	if tooLong(name) {
		return Traffic{}, noInterface(name)
	}
	s, err := dial(ctx)
	if err != nil {
		return Traffic{}, err
	}
	defer s.Close()
	return s.traffic(name)
}

// All dumps RTM_GETLINK: every interface of this network namespace.
func (Kernel) All(ctx context.Context) ([]Link, error) {
	h, err := open(ctx)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	links, err := h.LinkList()
	if err != nil && !errors.Is(err, netlink.ErrDumpInterrupted) {
		return nil, fmt.Errorf("listing interfaces: %w", err)
	}
	all := make([]Link, len(links))
	for i, l := range links {
		all[i] = describe(l)
	}
	return all, nil
}

// socket is one netlink socket, for one caller.
type socket map[int]*nl.SocketHandle

func dial(ctx context.Context) (socket, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := nl.Subscribe(unix.NETLINK_ROUTE) // to nothing: this only opens it
	if err != nil {
		return nil, fmt.Errorf("opening netlink: %w", err)
	}
	wait := patience
	if deadline, ok := ctx.Deadline(); ok {
		wait = max(time.Until(deadline), time.Millisecond)
	}
	limit := unix.NsecToTimeval(int64(wait))
	if err := errors.Join(s.SetReceiveTimeout(&limit), s.SetSendTimeout(&limit)); err != nil {
		s.Close()
		return nil, err
	}
	return socket{unix.NETLINK_ROUTE: {Socket: s}}, nil
}

func (s socket) Close() { s[unix.NETLINK_ROUTE].Close() }

// ask sends a request and gives the messages of the answer.
func (s socket) ask(request *nl.NetlinkRequest, answer uint16) ([][]byte, error) {
	request.Sockets = s
	messages, err := request.Execute(unix.NETLINK_ROUTE, answer)
	if errors.Is(err, nl.ErrDumpInterrupted) {
		// Something was added or removed meanwhile. The second try is as good as it gets.
		messages, err = request.Execute(unix.NETLINK_ROUTE, answer)
		if errors.Is(err, nl.ErrDumpInterrupted) {
			err = nil
		}
	}
	return messages, err
}

func (s socket) traffic(name string) (Traffic, error) {
	request := nl.NewNetlinkRequest(unix.RTM_GETLINK, 0)
	request.AddData(nl.NewIfInfomsg(unix.AF_UNSPEC))
	request.AddData(nl.NewRtAttr(unix.IFLA_IFNAME, nl.ZeroTerminated(name)))
	messages, err := s.ask(request, unix.RTM_NEWLINK)
	switch {
	case errors.Is(err, unix.ENODEV):
		return Traffic{}, noInterface(name)
	case err != nil:
		return Traffic{}, fmt.Errorf("counters of %s: %w", name, err)
	case len(messages) == 0:
		return Traffic{}, fmt.Errorf("counters of %s: the kernel gave no answer", name)
	}
	t, err := parseLink(messages[0])
	if err != nil {
		return Traffic{}, fmt.Errorf("counters of %s: %w", name, err)
	}
	qdiscs, err := s.qdiscs(t.Index)
	if err != nil {
		err = fmt.Errorf("queueing disciplines of %s: %w", name, err)
	}
	t.Qdiscs = probes.Read(qdiscs, err)
	return t, nil
}

func (s socket) qdiscs(index int) ([]probes.Qdisc, error) {
	all, err := s.tc(unix.RTM_GETQDISC, unix.RTM_NEWQDISC, index)
	if err != nil {
		return nil, err
	}
	list := make([]probes.Qdisc, 0, len(all))
	for _, d := range all {
		list = append(list, d.Qdisc)
	}
	if !slices.ContainsFunc(list, func(q probes.Qdisc) bool { return q.Kind == "htb" }) {
		return list, nil
	}
	classes, err := s.tc(unix.RTM_GETTCLASS, unix.RTM_NEWTCLASS, index)
	if err != nil {
		return nil, err
	}
	for _, c := range classes {
		if c.Kind == "htb" {
			c.Parent = "class " + handleName(c.handle)
			list = append(list, c.Qdisc)
		}
	}
	return list, nil
}

type discipline struct {
	probes.Qdisc
	handle uint32
}

// tc dumps the disciplines, or classes, of one interface.
func (s socket) tc(ask, answer uint16, index int) ([]discipline, error) {
	request := nl.NewNetlinkRequest(int(ask), unix.NLM_F_DUMP)
	request.AddData(&nl.TcMsg{Family: unix.AF_UNSPEC, Ifindex: int32(index)})
	messages, err := s.ask(request, answer)
	if err != nil {
		return nil, err
	}
	var all []discipline
	for _, m := range messages {
		q, handle, of, err := parseQdisc(m)
		if err != nil {
			return nil, err
		}
		if of == index { // the dump is of all interfaces
			all = append(all, discipline{q, handle})
		}
	}
	return all, nil
}
