//go:build linux

package sock

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// epollTargets lists the descriptors registered with any epoll set of this process, as
// /proc/self/fdinfo tells: "tfd: 7 events: … ino:1a2b …", the inode in hexadecimal.
func epollTargets(t *testing.T) (fds map[int]bool, inodes map[uint64]bool) {
	t.Helper()
	fds, inodes = map[int]bool{}, map[uint64]bool{}
	sets := 0
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + e.Name()); err != nil || target != "anon_inode:[eventpoll]" {
			continue
		}
		sets++
		text, err := os.ReadFile("/proc/self/fdinfo/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "tfd:") {
				continue
			}
			var fd int
			if _, err := fmt.Sscanf(line, "tfd: %d", &fd); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			fds[fd] = true
			if _, after, ok := strings.Cut(line, "ino:"); ok {
				n, err := strconv.ParseUint(strings.Fields(after)[0], 16, 64)
				if err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				inodes[n] = true
			}
		}
	}
	if sets == 0 {
		t.Fatal("this process has no epoll set, so the test proves nothing")
	}
	return fds, inodes
}

func socketInode(t *testing.T, fd int) uint64 {
	t.Helper()
	link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		t.Fatal(err)
	}
	var inode uint64
	if _, err := fmt.Sscanf(link, "socket:[%d]", &inode); err != nil {
		t.Fatalf("descriptor %d is %q", fd, link)
	}
	return inode
}

// A data socket in the epoll set would wake a second thread at every packet. The set
// registers sockets, not descriptors, so the duplicate must not stand there either: both
// the number and the inode are looked for.
func TestTakeLeavesNetpoller(t *testing.T) {
	a, b := dialPair(t, Options{})
	var before uint64
	if err := control(a, func(fd uintptr) error {
		before = socketInode(t, int(fd))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, inodes := epollTargets(t); !inodes[before] {
		t.Fatal("a net.TCPConn is not in the epoll set: the test looks in the wrong place")
	}
	var conns []*Conn
	for range 2 {
		p := newPair(t, Options{})
		conns = append(conns, p.tx, p.rx)
	}
	tx, err := Take(a)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Close()
	rx, err := Take(b)
	if err != nil {
		t.Fatal(err)
	}
	defer rx.Close()
	conns = append(conns, tx, rx)

	fds, inodes := epollTargets(t)
	for _, c := range conns {
		if inode := socketInode(t, c.fd); inodes[inode] || fds[c.fd] {
			t.Errorf("data socket %d (inode %d) is in the epoll set", c.fd, inode)
		}
	}
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	names, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

func TestNoDescriptorLeaks(t *testing.T) {
	once := func() {
		s := &stream{pair: newPair(t, Options{})}
		cfg := sendConfig()
		cfg.ZeroCopy = true
		startRecv(s, recvConfig())
		startSend(s, cfg)
		waitFor(t, "bytes flow", func() bool { return s.received.Bytes() > 0 })
		s.drain(t)
		s.tx.Close()
		s.rx.Close()
	}
	once() // the poller's own descriptors come with the first
	before := openDescriptors(t)
	for range 10 {
		once()
	}
	if after := openDescriptors(t); after != before {
		t.Errorf("%d descriptors open, %d before ten tests", after, before)
	}

	// Take of a connection that is closed already fails and leaves nothing.
	a, b := dialPair(t, Options{})
	a.Close()
	b.Close()
	if _, err := Take(a); err == nil {
		t.Error("Take of a closed connection: want an error")
	}
	if after := openDescriptors(t); after != before {
		t.Errorf("%d descriptors open after a failed Take, %d before", after, before)
	}
}
