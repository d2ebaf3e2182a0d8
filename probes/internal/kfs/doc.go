// Package kfs reads the small text files of /proc and /sys through fs.FS.
//
// The probes call it with os.DirFS("/") on the running system and with a fixture tree
// in tests. Errors keep the kernel's cause for errors.Is and name the file as the user
// knows it, with a leading slash. It never writes.
package kfs
