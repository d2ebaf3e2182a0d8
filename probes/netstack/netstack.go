package netstack

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/prometheus/procfs"

	"linerate/probes/internal/kfs"
)

// Reader reads one computer. It keeps files open and remembers what it read, and is not
// safe for concurrent use; only Queues and Listener may run beside the other methods.
type Reader struct {
	root   fs.FS
	proc   procfs.FS
	noProc error // there is no folder to read

	netstat, snmp, snmp6 *kfs.File
	names                names
	counters             int // of the last reading

	interrupts *kfs.File
	served     map[int]served // by IRQ
}

// New reads this computer.
func New() *Reader { return newReader("/", true) }

// NewAt reads the fixture tree at dir, a folder that holds proc and sys.
func NewAt(dir string) *Reader { return newReader(dir, false) }

func newReader(dir string, live bool) *Reader {
	root := os.DirFS(dir)
	proc, err := procfs.NewFS(filepath.Join(dir, "proc"))
	return &Reader{
		root:       root,
		proc:       proc,
		noProc:     err,
		netstat:    kfs.Keep(root, "proc/net/netstat", live),
		snmp:       kfs.Keep(root, "proc/net/snmp", live),
		snmp6:      kfs.Keep(root, "proc/net/snmp6", live),
		interrupts: kfs.Keep(root, "proc/interrupts", live),
	}
}

// Close closes the files kept open; the Reader can still be used.
func (r *Reader) Close() {
	for _, f := range []*kfs.File{r.netstat, r.snmp, r.snmp6, r.interrupts} {
		f.Close()
	}
}

// fromProc reads one file with prometheus/procfs. path names it in errors, which the
// library gives in several forms; absent is the reason when there is no such file.
func fromProc[T any](r *Reader, path, absent string, read func(procfs.FS) (T, error)) (v T, err error) {
	if err := kfs.LinuxOnly(); err != nil {
		return v, err
	}
	if r.noProc != nil {
		return v, kfs.Library(path, absent, r.noProc)
	}
	v, err = read(r.proc)
	return v, kfs.Library(path, absent, err)
}
