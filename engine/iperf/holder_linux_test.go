//go:build linux

package iperf

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Captured on Linux 6.18: a listener and a connection of it on port 5201 (0x1451), and
// another listener.
const procNetTCP = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode                                                     
   0: 0100007F:1451 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 51312 1 0000000000000000 100 0 0 10 0                     
   1: 0100007F:1451 0100007F:C1F2 01 00000000:00000000 00:00000000 00000000     0        0 51400 1 0000000000000000 20 4 30 10 -1                    
   2: 0100007F:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 777 1 0000000000000000 100 0 0 10 0                       
   3: short
`

func TestListeners(t *testing.T) {
	if diff := cmp.Diff([]string{"51312"}, listeners([]byte(procNetTCP), 5201)); diff != "" {
		t.Errorf("want − got +\n%s", diff)
	}
	if got := listeners([]byte(procNetTCP), 1); got != nil {
		t.Errorf("a free port: got %v", got)
	}
}
