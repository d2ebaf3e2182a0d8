package disk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/procfs/blockdevice"

	"linerate/probes"
	"linerate/probes/internal/kfs"
)

// Reader reads one computer. It keeps a file open; Times and Dirty are not safe for
// concurrent use, Read is.
type Reader struct {
	root   fs.FS
	live   bool
	block  blockdevice.FS
	noProc error // there is no folder to read
	vmstat *kfs.File
}

// New reads this computer.
func New() *Reader { return newReader("/", true) }

// NewAt reads the fixture tree at dir, a folder that holds proc and sys.
func NewAt(dir string) *Reader { return newReader(dir, false) }

func newReader(dir string, live bool) *Reader {
	root := os.DirFS(dir)
	proc := filepath.Join(dir, "proc")
	// The library wants a folder of sysfs too, which what is used of it does not read and a
	// container may not have.
	block, err := blockdevice.NewFS(proc, proc)
	return &Reader{root: root, live: live, block: block, noProc: err, vmstat: kfs.Keep(root, "proc/vmstat", live)}
}

// Close closes the file kept open; the Reader can still be used.
func (r *Reader) Close() { r.vmstat.Close() }

// Read describes the disk behind a path, which need not exist yet. An empty path is the
// working directory.
func (r *Reader) Read(_ context.Context, path string) probes.Disk {
	if err := kfs.LinuxOnly(); err != nil {
		return unknown(err)
	}
	if r.live {
		real, err := realPath(path)
		if err != nil {
			return unknown(err)
		}
		path = real
	}
	mounts, err := kfs.Mounts(r.root)
	if err != nil {
		return unknown(err)
	}
	return r.behind(path, mounts, maxDepth)
}

// maxDepth is how many times a path may lead to another one: a loop device's file, the
// upper folder of an overlay.
const maxDepth = 4

func unknown(err error) probes.Disk {
	return probes.Disk{Class: probes.Unread[string](err), LimitBps: probes.Unread[float64](err)}
}

func absent(format string, args ...any) error {
	return probes.Missing{Status: probes.Absent, Reason: fmt.Sprintf(format, args...)}
}

// realPath resolves symbolic links in what exists of a path.
func realPath(path string) (string, error) {
	whole, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for p := whole; ; p = filepath.Dir(p) {
		real, err := filepath.EvalSymlinks(p)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || p == filepath.Dir(p) {
			return "", err
		}
		rest = filepath.Join(filepath.Base(p), rest)
	}
}

// Times reads what every disk and partition has done so far: /proc/diskstats. Those that
// are memory, or files, or that nobody writes to, are left out.
func (r *Reader) Times() probes.Reading[[]probes.DiskTimes] {
	if err := kfs.LinuxOnly(); err != nil {
		return probes.Unread[[]probes.DiskTimes](err)
	}
	stats, err := []blockdevice.Diskstats(nil), r.noProc
	if err == nil {
		stats, err = r.block.ProcDiskstats()
	}
	if err != nil {
		return probes.Unread[[]probes.DiskTimes](kfs.Library("proc/diskstats", "the kernel does not count what disks do: no /proc/diskstats", err))
	}
	list := make([]probes.DiskTimes, 0, len(stats))
	for _, s := range stats {
		if noDisk(s.DeviceName) {
			continue
		}
		list = append(list, probes.DiskTimes{
			Name:         s.DeviceName,
			ReadBytes:    s.ReadSectors * sector,
			WrittenBytes: s.WriteSectors * sector,
			Busy:         time.Duration(s.IOsTotalTicks) * time.Millisecond,
		})
	}
	return probes.Got(list)
}

// sector is the unit of /proc/diskstats, whatever the disk has.
const sector = 512

func noDisk(name string) bool {
	for _, prefix := range []string{"loop", "ram", "zram", "sr", "fd"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
			return true
		}
	}
	return false
}

// Dirty reads how much memory waits to be written to disks, as a share of what makes
// writers wait: nr_dirty / nr_dirty_threshold of /proc/vmstat.
func (r *Reader) Dirty() probes.Reading[float64] {
	return probes.Read(r.dirty())
}

func (r *Reader) dirty() (float64, error) {
	if err := kfs.LinuxOnly(); err != nil {
		return 0, err
	}
	text, err := r.vmstat.Read()
	if err != nil {
		return 0, err
	}
	return parseDirty(string(text))
}

func parseDirty(text string) (float64, error) {
	dirty, err := vmstat(text, "nr_dirty")
	if err != nil {
		return 0, err
	}
	threshold, err := vmstat(text, "nr_dirty_threshold")
	if err != nil {
		return 0, err
	}
	if threshold == 0 {
		return 0, absent("the kernel has no limit for what waits to be written")
	}
	return dirty / threshold, nil
}
