package cpu

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/shirou/gopsutil/v3/common"
)

// Reader reads one computer. It keeps files open and buffers between calls and is not
// safe for concurrent use, but for Info.
type Reader struct {
	dir     string // where proc and sys are
	live    bool   // dir is this computer's root, not a fixture
	root    fs.FS  // the same
	env     common.EnvMap
	threads threadReader
	others  processReader
}

// New reads this computer.
func New() *Reader { return newReader("/", true) }

// NewAt reads the fixture tree at dir, a folder that holds proc and sys. Only the
// readers for Linux can.
func NewAt(dir string) *Reader { return newReader(dir, false) }

func newReader(dir string, live bool) *Reader {
	return &Reader{
		dir:  dir,
		live: live,
		root: os.DirFS(dir),
		// Set even for the live system: HOST_PROC in the environment would otherwise make
		// gopsutil read other files than the rest of the package.
		env: common.EnvMap{
			common.HostProcEnvKey: filepath.Join(dir, "proc"),
			common.HostSysEnvKey:  filepath.Join(dir, "sys"),
		},
		threads: newThreadReader(filepath.Join(dir, "proc", "self", "task"), live),
		others:  newProcessReader(filepath.Join(dir, "proc")),
	}
}

// Close closes the files kept open; the Reader can still be used.
func (r *Reader) Close() { r.threads.close() }

func (r *Reader) context(ctx context.Context) context.Context {
	return context.WithValue(ctx, common.EnvKey, r.env)
}
