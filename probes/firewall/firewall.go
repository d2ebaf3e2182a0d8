package firewall

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/prometheus/procfs"

	"linerate/probes"
	"linerate/probes/internal/kfs"
	"linerate/probes/internal/nfnl"
	"linerate/probes/internal/rtnl"
)

// Reader reads one computer. It holds no state and is safe for concurrent use.
type Reader struct {
	root   fs.FS
	proc   procfs.FS
	noProc error // there is no folder to read
	filter filter
	links  links
}

// filter is what nfnl.Kernel asks the running system and nfnl.Saved a fixture.
type filter interface {
	NFTables(ctx context.Context) (nfnl.Ruleset, error)
	Legacy(table string, v6 bool) (nfnl.Ruleset, error)
}

// links is the same of rtnl.
type links interface {
	All(ctx context.Context) ([]rtnl.Link, error)
}

// New reads this computer.
func New() *Reader { return newReader("/", nfnl.Kernel{}, rtnl.Kernel{}) }

// NewAt reads the fixture tree at dir: proc and sys, netfilter.json in the format of
// nfnl.Saved and netlink.json in that of rtnl.Saved. The two files are read at every
// question, for a fixture may change.
func NewAt(dir string) *Reader {
	f := fixture{os.DirFS(dir)}
	return newReader(dir, f, f)
}

func newReader(dir string, f filter, l links) *Reader {
	proc, err := procfs.NewFS(filepath.Join(dir, "proc"))
	return &Reader{root: os.DirFS(dir), proc: proc, noProc: err, filter: f, links: l}
}

// fixture answers from the files of a fixture tree.
type fixture struct{ root fs.FS }

func (f fixture) NFTables(ctx context.Context) (nfnl.Ruleset, error) {
	saved, err := nfnl.ReadSaved(f.root)
	if err != nil {
		return nfnl.Ruleset{}, err
	}
	return saved.NFTables(ctx)
}

func (f fixture) Legacy(table string, v6 bool) (nfnl.Ruleset, error) {
	saved, err := nfnl.ReadSaved(f.root)
	if err != nil {
		return nfnl.Ruleset{}, err
	}
	return saved.Legacy(table, v6)
}

func (f fixture) All(ctx context.Context) ([]rtnl.Link, error) {
	saved, err := rtnl.ReadSaved(f.root)
	if err != nil {
		return nil, err
	}
	return saved.All(ctx)
}

// Read describes the packet filter. Listing rules takes the kernel about a microsecond
// each, so it is for the start and every half minute.
func (r *Reader) Read(ctx context.Context) probes.Firewall {
	if err := kfs.LinuxOnly(); err != nil {
		return probes.Firewall{
			Kind: probes.Unread[string](err), Rules: probes.Unread[int](err),
			Tracked: probes.Unread[bool](err), Router: probes.Unread[bool](err),
		}
	}
	m := r.modules()
	kind, rules := r.filters(ctx, m)
	return probes.Firewall{Kind: kind, Rules: rules, Tracked: r.tracked(m), Router: r.router(ctx)}
}

const conntrackFolder = "proc/sys/net/netfilter"

// tracked tells whether connection tracking is loaded, or built into the kernel; it may
// have nothing to do all the same.
func (r *Reader) tracked(m modules) probes.Reading[bool] {
	switch {
	case kfs.Exists(r.root, conntrackFolder+"/nf_conntrack_count"):
		return probes.Got(true)
	case !kfs.Exists(r.root, "proc/sys/net"):
		return probes.Unknown[bool](probes.Absent, "/proc/sys is not there")
	case m.has("nf_conntrack"):
		return probes.Unknown[bool](probes.Absent, "connection tracking is loaded, and not shown to this network namespace")
	}
	return probes.Got(false)
}

// Conntrack reads how full the table of tracked connections is, and how often it could
// not take one in.
func (r *Reader) Conntrack() probes.Reading[probes.Conntrack] {
	return probes.Read(r.conntrack())
}

func (r *Reader) conntrack() (c probes.Conntrack, err error) {
	if err := kfs.LinuxOnly(); err != nil {
		return c, err
	}
	count, err := kfs.Int(r.root, conntrackFolder+"/nf_conntrack_count")
	if errors.Is(err, fs.ErrNotExist) {
		return c, probes.Missing{Status: probes.Absent, Reason: "connection tracking is not loaded"}
	}
	if err != nil {
		return c, err
	}
	limit, err := kfs.Int(r.root, conntrackFolder+"/nf_conntrack_max")
	if err != nil {
		return c, err
	}
	const path = "proc/net/stat/nf_conntrack"
	if err = r.noProc; err == nil {
		var cores []procfs.ConntrackStatEntry
		cores, err = r.proc.ConntrackStat()
		for _, e := range cores {
			c.Failed += e.InsertFailed + e.Drop + e.EarlyDrop
		}
	}
	if err != nil {
		return c, kfs.Library(path, "the kernel does not count connections that it could not track: no /"+path, err)
	}
	c.Count, c.Max = uint64(max(0, count)), uint64(max(0, limit))
	return c, nil
}
