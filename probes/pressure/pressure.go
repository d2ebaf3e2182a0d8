package pressure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/procfs"

	"linerate/probes"
	"linerate/probes/internal/kfs"
)

// Reader reads one computer. It keeps files open and is not safe for concurrent use; only
// Thermal may run beside the other methods.
type Reader struct {
	root   fs.FS
	live   bool
	proc   procfs.FS
	noProc error // there is no folder to read

	membership *kfs.File // of this process in control groups
	known      string    // what it said when levels were found
	levels     []level   // the own group and those above it
	noLevels   error     // why there are none

	zones zones
}

// New reads this computer.
func New() *Reader { return newReader("/", true) }

// NewAt reads the fixture tree at dir, a folder that holds proc and sys.
func NewAt(dir string) *Reader { return newReader(dir, false) }

func newReader(dir string, live bool) *Reader {
	root := os.DirFS(dir)
	proc, err := procfs.NewFS(filepath.Join(dir, "proc"))
	return &Reader{
		root: root, live: live, proc: proc, noProc: err,
		membership: kfs.Keep(root, "proc/self/cgroup", live),
		zones:      zones{},
	}
}

// Close closes the files kept open; the Reader can still be used.
func (r *Reader) Close() {
	r.membership.Close()
	r.forget()
}

// Stalls reads /proc/pressure: for how long so far some task waited for each resource.
func (r *Reader) Stalls() probes.Pressure {
	return probes.Pressure{CPU: r.stall("cpu"), Memory: r.stall("memory"), IO: r.stall("io")}
}

func (r *Reader) stall(resource string) probes.Reading[time.Duration] {
	return probes.Read(r.readStall(resource))
}

func (r *Reader) readStall(resource string) (time.Duration, error) {
	if err := kfs.LinuxOnly(); err != nil {
		return 0, err
	}
	path := "proc/pressure/" + resource
	stats, err := procfs.PSIStats{}, r.noProc
	if err == nil {
		stats, err = r.proc.PSIStatsForResource(resource)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		// Kernels before 5.14 show the files and refuse to read them.
		err = fs.ErrNotExist
	}
	if err != nil {
		return 0, kfs.Library(path, "the kernel keeps no account of waiting tasks (boot with psi=1)", err)
	}
	if stats.Some == nil {
		return 0, fmt.Errorf("reading /%s: no line of some tasks", path)
	}
	if stats.Some.Total > maxMicroseconds {
		return 0, fmt.Errorf("reading /%s: total=%d is no time", path, stats.Some.Total)
	}
	return time.Duration(stats.Some.Total) * time.Microsecond, nil
}

// maxMicroseconds keeps a time within a time.Duration: 292 years.
const maxMicroseconds = 1<<63/1000 - 1
