package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// pidfile is the file of -I; the zero value is none.
type pidfile string

// claimPidfile writes the process number to path, unless a living process has claimed it.
func claimPidfile(path string) (pidfile, error) {
	if path == "" {
		return "", nil
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", failure(fmt.Errorf("reading the pid file: %w", err), "")
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && pid > 0 && lives(pid) {
		return "", failure(fmt.Errorf("the pid file %s names process %d, which is running", path, pid),
			"stop that process, or use another file")
	}
	if err := os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())), 0o644); err != nil {
		return "", failure(fmt.Errorf("writing the pid file: %w", err), "")
	}
	return pidfile(path), nil
}

func (p pidfile) release() {
	if p != "" {
		os.Remove(string(p))
	}
}
