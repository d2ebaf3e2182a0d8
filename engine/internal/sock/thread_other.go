//go:build !linux

package sock

import "fmt"

// onMainThread does not matter where threads cannot be renamed.
func onMainThread() bool { return false }

func threadID() int { return 0 }

func dress(_ string, core int) (restore func() error, err error) {
	restore = func() error { return nil }
	if core >= 0 {
		err = SetCore(core)
	}
	return restore, err
}

// SetCore pins the calling thread to one core; only Linux can.
func SetCore(core int) error { return unsupported(fmt.Sprintf("pinning to core %d", core)) }
