//go:build !linux

package sock

const threadsHaveNumbers = false
