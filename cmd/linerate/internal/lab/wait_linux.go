package lab

import (
	"context"
	"fmt"
	"net"
	"time"
)

// awaitTaken returns when some program listens on the port: it tries to take it itself,
// since a connection would count as a test to an iperf3 server. It must run on a thread
// of the right namespace.
func awaitTaken(ctx context.Context, port int) error {
	deadline := time.Now().Add(15 * time.Second)
	for time.Now().Before(deadline) && ctx.Err() == nil {
		ln, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			return nil
		}
		ln.Close()
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("nothing listens on port %d", port)
}
