package lab

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// awaitListener returns when some program listens on the TCP port. It only looks: a
// connection would count as a test to an iperf3 server, and taking the port to see whether
// it is free could be just when the server wants it. It must run on a thread of the right
// namespace.
func awaitListener(ctx context.Context, port int) error {
	deadline := time.Now().Add(15 * time.Second)
	for time.Now().Before(deadline) && ctx.Err() == nil {
		there, err := listens(port)
		if there || err != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("nothing listens on port %d", port)
}

// listens looks for the port in the kernel's tables of TCP sockets: proc_net_tcp(5).
func listens(port int) (bool, error) {
	const listening = "0A"
	suffix := fmt.Sprintf(":%04X", port)
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile("/proc/thread-self/net/" + table)
		if os.IsNotExist(err) && table == "tcp6" {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("reading TCP sockets: %w", err)
		}
		for line := range strings.Lines(string(text)) {
			columns := strings.Fields(line) // number, local address, remote address, state
			if len(columns) > 3 && strings.HasSuffix(columns[1], suffix) && columns[3] == listening {
				return true, nil
			}
		}
	}
	return false, nil
}
