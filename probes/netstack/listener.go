package netstack

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"linerate/probes"
	"linerate/probes/internal/kfs"
)

const (
	// maxSockets bounds what is read of one table of sockets. The kernel lists those that
	// listen first, and a busy server has a hundred thousand others.
	maxSockets = 8 << 20
	// stateListening is TCP_LISTEN in the fourth column of the tables.
	stateListening = "0A"
	initPID        = 1
)

// Listener finds the program that accepts TCP connections to an address of this computer:
// among several sockets on the port the one that the kernel would choose, with an
// unspecified address any. Of programs that share it (a service and whoever has started it)
// it is the oldest one, but not init, which only keeps sockets for others.
//
// It looks into the descriptors of every process, some 10 ms where there are hundreds. A
// program of another user is hidden from all but root. It may run beside the Reader's other
// methods.
func (r *Reader) Listener(ctx context.Context, at netip.AddrPort) (probes.Program, error) {
	if err := kfs.LinuxOnly(); err != nil {
		return probes.Program{}, err
	}
	inodes, err := r.listening(at)
	if err != nil {
		return probes.Program{}, err
	}
	if len(inodes) == 0 {
		return probes.Program{}, probes.Missing{Status: probes.Absent, Reason: fmt.Sprintf("no program here listens on port %d", at.Port())}
	}
	return r.holder(ctx, inodes, at.Port())
}

// listening gives the sockets that a connection to an address would reach, as the links in
// /proc/PID/fd name them.
func (r *Reader) listening(at netip.AddrPort) ([]string, error) {
	var best []string
	fit, read := 0, 0
	var failed error
	for _, name := range []string{"proc/net/tcp", "proc/net/tcp6"} {
		f, err := r.root.Open(name)
		if err != nil { // there may be no IPv6
			failed = kfs.Error(name, err)
			continue
		}
		read++
		for s := range listeners(io.LimitReader(f, maxSockets), at.Port()) {
			switch n := fits(s.addr, at.Addr()); {
			case n == 0 || n < fit:
			case n > fit:
				best, fit = []string{s.link()}, n
			default:
				best = append(best, s.link())
			}
		}
		f.Close()
	}
	if read == 0 {
		return nil, failed
	}
	return best, nil
}

// socket is a listening one.
type socket struct {
	addr  netip.Addr
	inode string
}

func (s socket) link() string { return "socket:[" + s.inode + "]" }

// fits says how well a socket bound to addr suits a connection to dest: 0 not at all, the
// highest is the kernel's choice.
func fits(addr, dest netip.Addr) int {
	dest = dest.Unmap().WithZone("")
	switch {
	case dest.IsUnspecified():
		return 1
	case addr == dest:
		return 3
	case addr.IsUnspecified() && addr.Is4() == dest.Is4():
		return 2
	case addr.IsUnspecified() && dest.Is4(): // a socket of IPv6 that takes IPv4 too
		return 1
	}
	return 0
}

// listeners gives the listening sockets on a port out of a table in the format of
// /proc/net/tcp: "sl local_address rem_address st … inode", addresses and state in
// hexadecimal. Lines that make no sense are left out.
func listeners(table io.Reader, port uint16) func(yield func(socket) bool) {
	return func(yield func(socket) bool) {
		lines := bufio.NewScanner(table)
		for lines.Scan() {
			f := strings.Fields(lines.Text())
			if len(f) < 10 || f[3] != stateListening {
				continue
			}
			local, ok := endpoint(f[1])
			if !ok || local.Port() != port {
				continue
			}
			if _, err := strconv.ParseUint(f[9], 10, 64); err == nil && !yield(socket{local.Addr(), f[9]}) {
				return
			}
		}
	}
}

// endpoint reads "0100007F:1451": the address in words of 32 bits, each as a number of the
// processor's byte order, and the port as a number.
func endpoint(s string) (netip.AddrPort, bool) {
	words, portHex, _ := strings.Cut(s, ":")
	port, err := strconv.ParseUint(portHex, 16, 16)
	if err != nil || len(words) != 8 && len(words) != 32 {
		return netip.AddrPort{}, false
	}
	var bytes []byte
	for word := range slices.Chunk([]byte(words), 8) {
		n, err := strconv.ParseUint(string(word), 16, 32)
		if err != nil {
			return netip.AddrPort{}, false
		}
		bytes = binary.NativeEndian.AppendUint32(bytes, uint32(n))
	}
	addr, ok := netip.AddrFromSlice(bytes)
	return netip.AddrPortFrom(addr.Unmap(), uint16(port)), ok
}

// holder finds the process that has one of the sockets open.
func (r *Reader) holder(ctx context.Context, sockets []string, port uint16) (probes.Program, error) {
	pids, err := r.processes()
	if err != nil {
		return probes.Program{}, err
	}
	hidden, first := false, false // some descriptors cannot be seen; init has the socket
	for _, pid := range pids {
		if err := ctx.Err(); err != nil {
			return probes.Program{}, err
		}
		has, err := r.holds(pid, sockets)
		switch {
		case errors.Is(err, fs.ErrPermission):
			hidden = true
		case has && pid == initPID:
			first = true
		case has:
			if name, err := r.nameOf(pid); err == nil { // else it has ended meanwhile
				return probes.Program{Name: name, PID: pid}, nil
			}
		}
	}
	switch {
	case first:
		name, err := r.nameOf(initPID)
		return probes.Program{Name: name, PID: initPID}, err
	case hidden:
		return probes.Program{}, probes.Missing{Status: probes.Denied, Reason: fmt.Sprintf("the program that listens on port %d is another user's: only root sees which", port)}
	}
	return probes.Program{}, probes.Missing{Status: probes.Absent, Reason: fmt.Sprintf("the program that listens on port %d is not visible from here", port)}
}

// processes lists the processes, the oldest numbers first.
func (r *Reader) processes() ([]int, error) {
	entries, err := fs.ReadDir(r.root, "proc")
	if err != nil {
		return nil, kfs.Error("proc", err)
	}
	var pids []int
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids, nil
}

// holds reports whether a process has one of the sockets open. The error is that it must not
// be looked into, or has ended.
func (r *Reader) holds(pid int, sockets []string) (bool, error) {
	folder := fmt.Sprintf("proc/%d/fd", pid)
	entries, err := fs.ReadDir(r.root, folder)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		target, err := fs.ReadLink(r.root, folder+"/"+e.Name())
		if err == nil && slices.Contains(sockets, target) {
			return true, nil
		}
	}
	return false, nil
}

// nameOf gives a program's name without what a terminal could obey: it chooses it itself.
func (r *Reader) nameOf(pid int) (string, error) {
	name, err := kfs.Text(r.root, fmt.Sprintf("proc/%d/comm", pid))
	return strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return -1
		}
		return c
	}, name), err
}
