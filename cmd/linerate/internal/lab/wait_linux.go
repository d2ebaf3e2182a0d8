package lab

import (
	"context"
	"fmt"
	"net"
	"time"
)

// waitListen returns when something accepts connections at addr. It must run on a thread
// of the right namespace, so it dials literal addresses in this goroutine only.
func waitListen(ctx context.Context, addr string) error {
	deadline := time.Now().Add(5 * time.Second)
	for {
		c, err := net.DialTimeout("tcp4", addr, time.Second)
		if err == nil {
			return c.Close()
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return fmt.Errorf("nothing listens at %s: %w", addr, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
