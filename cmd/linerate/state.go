package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/adrg/xdg"
)

// stateDir is where summaries and crash reports go; it may not exist yet.
func stateDir() string { return filepath.Join(xdg.StateHome, "linerate") }

// keep writes the summary of the last session to last.txt, whole or not at all, and
// returns its path.
func keep(summary []byte) (path string, err error) {
	path = filepath.Join(stateDir(), "last.txt")
	if err := os.MkdirAll(stateDir(), 0o700); err != nil {
		return "", fmt.Errorf("keeping the summary: %w", err)
	}
	if err := replaceFile(path, summary); err != nil {
		return "", fmt.Errorf("keeping the summary: %w", err)
	}
	return path, nil
}

// export stores what the key x exports, as two files of one name in the state folder, and
// gives the path of the text.
func export(screen string, data []byte) (path string, err error) {
	base := filepath.Join(stateDir(), "screen-"+time.Now().Format("20060102-150405"))
	if err := os.MkdirAll(stateDir(), 0o700); err != nil {
		return "", fmt.Errorf("exporting: %w", err)
	}
	if err := replaceFile(base+".json", data); err != nil {
		return "", fmt.Errorf("exporting: %w", err)
	}
	if err := replaceFile(base+".txt", []byte(screen)); err != nil {
		return "", fmt.Errorf("exporting: %w", err)
	}
	return base + ".txt", nil
}
