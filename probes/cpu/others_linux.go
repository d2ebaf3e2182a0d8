//go:build linux

package cpu

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"linerate/probes"
)

// processReader reads the stat files of a proc folder. It keeps none open: there may be
// thousands.
type processReader struct {
	path string
	self int // left out
	buf  [1024]byte
}

func newProcessReader(path string) processReader { return processReader{path: path, self: os.Getpid()} }

func (r *processReader) read(dst []probes.ThreadTimes) ([]probes.ThreadTimes, error) {
	pids, err := r.list()
	if err != nil {
		return dst, fmt.Errorf("reading processes: %w", err)
	}
	if len(pids) > mostOthers {
		return dst, probes.Missing{Status: probes.Unsupported, Reason: fmt.Sprintf("%d processes are too many to read", len(pids))}
	}
	for _, pid := range pids {
		t, err := r.process(pid)
		switch {
		case errors.Is(err, unix.ESRCH), errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
			continue // ended since the listing, or hidden
		case err != nil:
			return dst, fmt.Errorf("reading process %d: %w", pid, err)
		}
		dst = append(dst, t)
	}
	return dst, nil
}

func (r *processReader) list() ([]int, error) {
	dir, err := os.Open(r.path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid != r.self {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids, nil
}

func (r *processReader) process(pid int) (probes.ThreadTimes, error) {
	fd, err := unix.Open(filepath.Join(r.path, strconv.Itoa(pid), "stat"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return probes.ThreadTimes{}, err
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, r.buf[:])
	if err != nil {
		return probes.ThreadTimes{}, err
	}
	s, err := parseTaskStat(r.buf[:n])
	if err != nil {
		return probes.ThreadTimes{}, err
	}
	return probes.ThreadTimes{TID: pid, Name: string(s.name), User: s.user, System: s.system, Core: s.core}, nil
}
