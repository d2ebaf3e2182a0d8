package disk

import (
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"linerate/probes"
	"linerate/probes/internal/kfs"
)

// behind finds the disk that holds a path.
func (r *Reader) behind(p string, mounts []kfs.Mount, depth int) probes.Disk {
	m, ok := mountOf(p, mounts)
	if !ok {
		return unknown(absent("no mount holds %s", p))
	}
	d := r.onMount(m, mounts, depth)
	d.File = m.Type
	return d
}

// mountOf is the mount with the longest path to p; of several at one place the last, which
// hides the others.
func mountOf(p string, mounts []kfs.Mount) (found kfs.Mount, ok bool) {
	for _, m := range mounts {
		if _, below := kfs.Below(p, m.Point); below && len(m.Point) >= len(found.Point) {
			found, ok = m, true
		}
	}
	return found, ok
}

func (r *Reader) onMount(m kfs.Mount, mounts []kfs.Mount, depth int) probes.Disk {
	switch kind := strings.TrimPrefix(m.Type, "fuse."); kind {
	case "tmpfs", "ramfs", "devtmpfs":
		return memory(m.Type)
	case "nfs", "nfs4", "cifs", "smb3", "ceph", "afs", "lustre", "glusterfs", "sshfs", "s3fs", "rclone", "beegfs":
		return unknown(absent("%s: the files are on another computer", kind))
	case "9p", "virtiofs", "vboxsf", "vmhgfs-fuse", "prl_fs", "drvfs":
		return unknown(absent("%s: the files are on the host of this virtual machine", kind))
	case "overlay":
		return r.overlay(m, mounts, depth)
	}
	folder, err := r.device(m)
	if err != nil {
		return unknown(err)
	}
	return r.disk(folder, mounts, depth)
}

func memory(name string) probes.Disk {
	return probes.Disk{
		Name: name, Class: probes.Got("memory"),
		LimitBps: probes.Unknown[float64](probes.Absent, "memory is on no bus"),
	}
}

// overlay goes on to the folder that is written to, which a container usually cannot see.
func (r *Reader) overlay(m kfs.Mount, mounts []kfs.Mount, depth int) probes.Disk {
	for _, o := range m.Options {
		upper, ok := strings.CutPrefix(o, "upperdir=")
		if ok && path.IsAbs(upper) && depth > 0 && kfs.Exists(r.root, strings.TrimPrefix(path.Clean(upper), "/")) {
			return r.behind(upper, mounts, depth-1)
		}
	}
	return unknown(absent("overlay: the disk below it is not visible from here"))
}

// device is the folder of sysfs of what is mounted. File systems on several devices (btrfs,
// bcachefs) have a number of their own, and name one device as their source.
func (r *Reader) device(m kfs.Mount) (string, error) {
	if !kfs.Exists(r.root, "sys/dev/block") {
		return "", absent("no disks in /sys")
	}
	if !strings.HasPrefix(m.Dev, "0:") {
		folder, err := kfs.Resolve(r.root, "sys/dev/block/"+m.Dev)
		if errors.Is(err, fs.ErrNotExist) {
			return "", absent("the disk with the number %s is not visible from here", m.Dev)
		}
		return folder, err
	}
	source, ok := strings.CutPrefix(m.Source, "/dev/")
	if !ok {
		return "", absent("%s: its disks are not known to the kernel's list of mounts", m.Type)
	}
	// /dev/mapper/NAME and /dev/VG/LV are links to /dev/dm-N.
	if target, err := fs.ReadLink(r.root, "dev/"+source); err == nil {
		source = target
	}
	return r.named(path.Base(source))
}

// named is the folder of a block device with a name of the kernel's.
func (r *Reader) named(name string) (string, error) {
	folder, err := kfs.Resolve(r.root, "sys/class/block/"+name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", absent("the disk %s is not visible from here", name)
	}
	return folder, err
}

// disk describes a block device, or the one below it.
func (r *Reader) disk(folder string, mounts []kfs.Mount, depth int) probes.Disk {
	if depth == 0 {
		return unknown(absent("too many devices below one another"))
	}
	if kfs.Exists(r.root, folder+"/partition") {
		folder = path.Dir(folder)
	}
	name := path.Base(folder)
	if file, err := kfs.Text(r.root, folder+"/loop/backing_file"); err == nil {
		d := r.behind(file, mounts, depth-1)
		d.Name = name
		return d
	}
	lower, _ := fs.ReadDir(r.root, folder+"/slaves")
	if len(lower) == 0 {
		return r.classify(folder)
	}
	disks := make([]probes.Disk, 0, len(lower))
	for _, l := range lower {
		below, err := r.named(l.Name())
		if err != nil {
			return unknown(err)
		}
		disks = append(disks, r.disk(below, mounts, depth-1))
	}
	return together(name, disks)
}

// together describes a device made of several disks: of one it is that disk; of more, how
// fast they are together depends on how it is made.
func together(name string, disks []probes.Disk) probes.Disk {
	d := disks[0]
	for _, other := range disks[1:] {
		if other.Name == d.Name { // two partitions of one disk
			continue
		}
		d.Name = name
		d.LimitBps = probes.Unknown[float64](probes.Absent, strconv.Itoa(len(disks))+" disks work together")
		if other.Class != disks[0].Class {
			d.Class = probes.Unknown[string](probes.Absent, "disks of several kinds work together")
		}
	}
	return d
}

func vmstat(text, name string) (float64, error) {
	for line := range strings.Lines(text) {
		value, ok := strings.CutPrefix(line, name+" ")
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 64)
		if err != nil {
			return 0, kfs.Error("proc/vmstat", err)
		}
		return float64(n), nil
	}
	return 0, absent("no %s in /proc/vmstat", name)
}
