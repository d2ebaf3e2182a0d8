package hosttest

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Numbers of the first listening program and of its socket.
const (
	listenerPID   = 5000
	listenerInode = 90000
)

// writeListeners lays out the table of TCP sockets and a process for each listener.
func (h *Host) writeListeners() {
	var table strings.Builder
	table.WriteString("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n")
	for i, port := range slices.Sorted(maps.Keys(h.machine.Listeners)) {
		pid, inode := listenerPID+i, listenerInode+i
		fmt.Fprintf(&table, "%4d: %08X:%04X 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 %d 1\n",
			i, binary.NativeEndian.Uint32([]byte{127, 0, 0, 1}), port, inode)
		h.write(fmt.Sprintf("proc/%d/comm", pid), h.machine.Listeners[port]+"\n")
		h.link(fmt.Sprintf("proc/%d/fd/3", pid), fmt.Sprintf("socket:[%d]", inode))
	}
	h.write("proc/net/tcp", table.String())
}
