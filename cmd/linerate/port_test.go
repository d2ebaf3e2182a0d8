//go:build linux

package main

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// freePort gives a TCP port that nobody uses now.
func freePort(t testing.TB) string {
	t.Helper()
	port, err := unusedPort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func unusedPort() (string, error) {
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer ln.Close()
	_, port, err := net.SplitHostPort(ln.Addr().String())
	return port, err
}

// awaitPort waits until somebody listens on the port. It looks into the kernel's tables: a
// connection would count as a client, and taking the port would be in the server's way.
func awaitPort(t testing.TB, port string) {
	t.Helper()
	if err := pollPort(port, 20*time.Second); err != nil {
		t.Fatal(err)
	}
}

func pollPort(port string, limit time.Duration) error {
	var number int
	if _, err := fmt.Sscan(port, &number); err != nil {
		return err
	}
	// Not /proc/net: that is the main thread's, which another test may have moved to a
	// namespace. Column 2 is address:port in hexadecimal, column 4 the state, 0A listening: proc(5).
	entry := fmt.Sprintf(":%04X", number)
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		for _, table := range []string{"/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"} {
			text, err := os.ReadFile(table)
			if err != nil {
				continue
			}
			for line := range strings.Lines(string(text)) {
				f := strings.Fields(line)
				if len(f) > 3 && strings.HasSuffix(f[1], entry) && f[3] == "0A" {
					return nil
				}
			}
		}
	}
	return fmt.Errorf("nobody listens on port %s after %v", port, limit)
}
