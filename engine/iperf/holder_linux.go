//go:build linux

package iperf

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"linerate/engine/internal/wire"
)

// portHolder names the program that listens on a TCP port: "iperf3 (pid 812)". Without
// the right to look into another user's process it is "". It reads /proc/net/tcp and
// tcp6 for the socket's inode and looks for it in /proc/PID/fd.
func portHolder(port int) string {
	inodes := make(map[string]bool)
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		for _, inode := range listeners(text, port) {
			inodes["socket:["+inode+"]"] = true
		}
	}
	if len(inodes) == 0 {
		return ""
	}
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*") // the pattern is well formed
	for _, fd := range fds {
		target, err := os.Readlink(fd)
		if err != nil || !inodes[target] {
			continue
		}
		pid := strings.Split(fd, "/")[2]
		comm, err := os.ReadFile("/proc/" + pid + "/comm")
		if err != nil {
			continue // it has ended meanwhile
		}
		return fmt.Sprintf("%s (pid %s)", wire.Clean(strings.TrimSpace(string(comm)), 32), pid)
	}
	return ""
}

// listeners gives the inodes of listening sockets on port in the format of
// /proc/net/tcp: "sl local_address rem_address st … inode", addresses and state in hex.
func listeners(text []byte, port int) []string {
	const stateListening = "0A"
	var inodes []string
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 10 || f[3] != stateListening {
			continue
		}
		_, hex, _ := strings.Cut(f[1], ":")
		if p, err := strconv.ParseUint(hex, 16, 16); err == nil && int(p) == port {
			inodes = append(inodes, f[9])
		}
	}
	return inodes
}
