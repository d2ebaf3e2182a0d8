package kfs

import (
	"io/fs"
	"path"
	"strings"
)

// Mount is one line of /proc/self/mountinfo; see proc(5).
type Mount struct {
	Dev     string   // "8:1", of the files on it; "0:21" when there is no device
	Root    string   // the folder of the file system that is mounted
	Point   string   // where
	Type    string   // "ext4", "cgroup2" …
	Source  string   // "/dev/sda1", or anything
	Options []string // of the file system, not of the mount: "cpu", "upperdir=/x" …
}

// Mounts reads the mounts that this process sees, in the order they were made.
//
// prometheus/procfs has a reader too, which gives up at the first odd line, leaves
// octal escapes in, and keeps the options in a map.
func Mounts(root fs.FS) ([]Mount, error) {
	text, err := Text(root, "proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	return parseMounts(text), nil
}

// parseMounts leaves out lines that are none.
func parseMounts(text string) []Mount {
	var all []Mount
	for line := range strings.Lines(text) {
		// Spaces within names are escaped, so the separator cannot be part of one.
		mount, system, ok := strings.Cut(line, " - ")
		m, s := strings.Fields(mount), strings.Fields(system)
		if !ok || len(m) < 6 || len(s) < 2 {
			continue
		}
		entry := Mount{Dev: m[2], Root: unescape(m[3]), Point: unescape(m[4]), Type: s[0], Source: unescape(s[1])}
		if len(s) > 2 {
			entry.Options = strings.Split(unescape(s[2]), ",")
		}
		all = append(all, entry)
	}
	return all
}

// unescape undoes the octal escapes of white space and backslash: "\040".
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) && octal(s[i+1]) && s[i+1] < '4' && octal(s[i+2]) && octal(s[i+3]) {
			b.WriteByte((s[i+1]-'0')<<6 | (s[i+2]-'0')<<3 | (s[i+3] - '0'))
			i += 3
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func octal(c byte) bool { return c >= '0' && c <= '7' }

// Below gives the part of p under folder, "" for folder itself, and whether p is
// there at all. Both are absolute.
func Below(p, folder string) (rest string, ok bool) {
	p, folder = path.Clean(p), path.Clean(folder)
	switch {
	case p == folder:
		return "", true
	case folder == "/":
		return strings.TrimPrefix(p, "/"), true
	}
	return strings.CutPrefix(p, folder+"/")
}

// Resolve gives the path, below root, of what the symbolic link at link points to.
// Links in sysfs are relative and one step long.
func Resolve(root fs.FS, link string) (string, error) {
	target, err := fs.ReadLink(root, link)
	if err != nil {
		return "", Error(link, err)
	}
	return path.Join(path.Dir(link), target), nil
}
