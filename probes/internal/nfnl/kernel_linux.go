//go:build linux

package nfnl

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"time"
	"unsafe"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Kernel asks the running system, in the network namespace of this process.
type Kernel struct{}

// patience bounds a request whose context has no deadline.
const patience = time.Second

// Messages of nf_tables, linux/netfilter/nf_tables.h.
const (
	newChain = unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_NEWCHAIN
	getChain = unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_GETCHAIN
	newRule  = unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_NEWRULE
	getRule  = unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_GETRULE
)

// NFTables lists the chains of nf_tables and counts the rules, of all protocol families.
// The rules of iptables are among them where its commands are built on nf_tables. The
// kernel loads nf_tables to answer if it can and has not yet; ask only where it is.
func (Kernel) NFTables(ctx context.Context) (Ruleset, error) {
	r, err := nfTables(ctx)
	if errors.Is(err, fs.ErrPermission) {
		return Ruleset{}, errDenied
	}
	if err != nil {
		return Ruleset{}, fmt.Errorf("listing nf_tables: %w", err)
	}
	return r, nil
}

func nfTables(ctx context.Context) (Ruleset, error) {
	if err := ctx.Err(); err != nil {
		return Ruleset{}, err
	}
	s, err := nl.Subscribe(unix.NETLINK_NETFILTER) // to nothing: this only opens it
	if err != nil {
		return Ruleset{}, err
	}
	defer s.Close()
	wait := patience
	if deadline, ok := ctx.Deadline(); ok {
		wait = max(time.Until(deadline), time.Millisecond)
	}
	limit := unix.NsecToTimeval(int64(wait))
	if err := errors.Join(s.SetReceiveTimeout(&limit), s.SetSendTimeout(&limit)); err != nil {
		return Ruleset{}, err
	}
	sockets := map[int]*nl.SocketHandle{unix.NETLINK_NETFILTER: {Socket: s}}

	var found Ruleset
	var odd error
	err = dump(sockets, getChain, newChain, func(msg []byte) {
		c, err := parseChain(msg)
		if err != nil {
			odd = err
			return
		}
		found.Chains = append(found.Chains, c)
	})
	if err = errors.Join(err, odd); err != nil {
		return Ruleset{}, err
	}
	err = dump(sockets, getRule, newRule, func([]byte) { found.Rules++ })
	return found, err
}

// dump gives every message of an answer to each. A change of the rules meanwhile makes the
// count wrong by a few at most, which nobody minds.
func dump(sockets map[int]*nl.SocketHandle, ask int, answer uint16, each func(msg []byte)) error {
	request := nl.NewNetlinkRequest(ask, unix.NLM_F_DUMP)
	request.Sockets = sockets
	request.AddRawData(make([]byte, nfgenmsgSize)) // struct nfgenmsg: every family
	err := request.ExecuteIter(unix.NETLINK_NETFILTER, answer, func(msg []byte) bool {
		each(msg)
		return true
	})
	if errors.Is(err, nl.ErrDumpInterrupted) {
		return nil
	}
	return err
}

// Options of getsockopt, linux/netfilter_ipv4/ip_tables.h; the same for IPv6.
const (
	getInfo    = 64 // IPT_SO_GET_INFO
	getEntries = 65 // IPT_SO_GET_ENTRIES
)

// tableInfo is struct ipt_getinfo.
type tableInfo struct {
	name                  [32]byte
	hooks                 uint32
	hookEntry, underflow  [5]uint32
	entryCount, entrySize uint32
}

// maxTable bounds what one table may ask of memory; a rule takes some 200 bytes.
const maxTable = 64 << 20

// Legacy counts the rules of one table of ip_tables and names the chains added to it.
// The kernel makes a table that is asked for and not there yet; ask for none but those
// that /proc/net/ip_tables_names has.
func (Kernel) Legacy(table string, v6 bool) (Ruleset, error) {
	r, err := legacy(table, v6)
	if errors.Is(err, fs.ErrPermission) {
		return Ruleset{}, errDenied
	}
	if err != nil {
		return Ruleset{}, legacyError(table, v6, err)
	}
	return r, nil
}

func legacy(table string, v6 bool) (Ruleset, error) {
	domain, level, at := unix.AF_INET, unix.SOL_IP, layout4
	if v6 {
		domain, level, at = unix.AF_INET6, unix.SOL_IPV6, layout6
	}
	var info tableInfo
	if len(table) >= len(info.name) {
		return Ruleset{}, unix.ENOENT
	}
	copy(info.name[:], table)
	fd, err := unix.Socket(domain, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return Ruleset{}, err
	}
	defer unix.Close(fd)
	if err := getsockopt(fd, level, getInfo, unsafe.Pointer(&info), unsafe.Sizeof(info)); err != nil {
		return Ruleset{}, err
	}
	if info.entrySize > maxTable {
		return Ruleset{}, fmt.Errorf("%d bytes of rules are too many", info.entrySize)
	}
	// struct ipt_get_entries: name, size, entries. The kernel compares the size with the
	// table's and refuses one that has changed meanwhile (EAGAIN), so it writes no more than
	// there is room for.
	head := entriesOffset()
	length := head + int(info.entrySize)
	buf := make([]uint64, (length+7)/8)
	whole := unsafe.Slice((*byte)(unsafe.Pointer(&buf[0])), 8*len(buf))[:length]
	copy(whole, table)
	binary.NativeEndian.PutUint32(whole[len(info.name):], info.entrySize)
	if err := getsockopt(fd, level, getEntries, unsafe.Pointer(&buf[0]), uintptr(length)); err != nil {
		return Ruleset{}, err
	}
	rules, chains, err := parseEntries(whole[head:], info.hooks, at)
	if err != nil {
		return Ruleset{}, err
	}
	found := Ruleset{Rules: rules}
	for _, name := range chains {
		found.Chains = append(found.Chains, Chain{Table: table, Name: name})
	}
	return found, nil
}

// entriesOffset is where the entries begin in struct ipt_get_entries. They are aligned as
// their 64-bit counters are, which C does not align on 32-bit x86.
func entriesOffset() int {
	if runtime.GOARCH == "386" {
		return 36
	}
	return 40
}

func getsockopt(fd, level, option int, value unsafe.Pointer, size uintptr) error {
	length := uint32(size)
	_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), uintptr(level), uintptr(option), uintptr(value), uintptr(unsafe.Pointer(&length)), 0)
	if errno != 0 {
		return errno
	}
	return nil
}
