//go:build linux

package main

import "github.com/google/renameio/v2"

// replaceFile gives path new contents in one step.
func replaceFile(path string, data []byte) error { return renameio.WriteFile(path, data, 0o600) }
