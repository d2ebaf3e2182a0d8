//go:build unix

package main

import (
	"strings"

	"golang.org/x/sys/unix"
)

// system is this computer as "uname -a" describes it, for iperf3's system_info.
func system() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return goSystem()
	}
	var words []string
	for _, field := range [][]byte{u.Sysname[:], u.Nodename[:], u.Release[:], u.Version[:], u.Machine[:]} {
		words = append(words, unix.ByteSliceToString(field))
	}
	return strings.Join(words, " ")
}
