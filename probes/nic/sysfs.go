package nic

import (
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"

	"linerate/probes"
	"linerate/probes/internal/kfs"
	"linerate/probes/internal/rtnl"
)

const netFolder = "sys/class/net"

// sysfs is the folder of one interface, or the reason why there is none to believe.
type sysfs struct {
	root   fs.FS
	folder string
	err    error
}

// sysfs opens the folder of an interface. /sys stays that of the network namespace it
// was mounted in, so a folder with another index belongs to somebody else's interface.
func (r *Reader) sysfs(link rtnl.Link) sysfs {
	s := sysfs{root: r.root, folder: path.Join(netFolder, link.Name)}
	if runtime.GOOS != "linux" {
		s.err = probes.Missing{Status: probes.Unsupported, Reason: "read on Linux only, this is " + runtime.GOOS}
		return s
	}
	index, err := kfs.Int(r.root, path.Join(s.folder, "ifindex"))
	switch {
	case err != nil && !kfs.Exists(r.root, netFolder):
		s.err = probes.Missing{Status: probes.Absent, Reason: "/sys is not there"}
	case err != nil:
		s.err = err
	case link.Index != 0 && int(index) != link.Index:
		s.err = probes.Missing{Status: probes.Absent, Reason: "/sys shows another network namespace"}
	}
	return s
}

func (s sysfs) exists(file string) bool {
	return s.err == nil && kfs.Exists(s.root, path.Join(s.folder, file))
}

func (s sysfs) text(file string) (string, error) {
	if s.err != nil {
		return "", s.err
	}
	return kfs.Text(s.root, path.Join(s.folder, file))
}

func (s sysfs) number(file string) (int64, error) {
	if s.err != nil {
		return 0, s.err
	}
	return kfs.Int(s.root, path.Join(s.folder, file))
}

// driver is the last part of where device/driver points to; "" when it points nowhere.
func (s sysfs) driver() string {
	if s.err != nil {
		return ""
	}
	target, err := fs.ReadLink(s.root, path.Join(s.folder, "device/driver"))
	if err != nil {
		return ""
	}
	return path.Base(target)
}

// deviceType is DEVTYPE of the interface's uevent: "wlan", "bond", "vlan" …; "" for plain
// Ethernet.
func (s sysfs) deviceType() string {
	text, _ := s.text("uevent")
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, "DEVTYPE="); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func (s sysfs) queues() (rx, tx int, err error) {
	if s.err != nil {
		return 0, 0, s.err
	}
	entries, err := fs.ReadDir(s.root, path.Join(s.folder, "queues"))
	if err != nil {
		return 0, 0, err
	}
	for _, e := range entries {
		switch {
		case strings.HasPrefix(e.Name(), "rx-"):
			rx++
		case strings.HasPrefix(e.Name(), "tx-"):
			tx++
		}
	}
	return rx, tx, nil
}

// lower names the interfaces this one sits on, sorted: the parent of a VLAN, the
// members of a bond or bridge.
func (s sysfs) lower() []string {
	if s.err != nil {
		return nil
	}
	entries, err := fs.ReadDir(s.root, s.folder)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutPrefix(e.Name(), "lower_"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
