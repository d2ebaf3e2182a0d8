package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// version and commit are set by the linker in releases (.goreleaser.yaml). They belong
// to the build and are never written.
var (
	version = ""
	commit  = ""
)

// build gives the version and the commit, from the linker or from what Go recorded.
func build() (v, c string) {
	v, c = version, commit
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v, c
	}
	if v == "" {
		v = strings.TrimPrefix(info.Main.Version, "v")
	}
	if v == "" || v == "(devel)" {
		v = "0.0.0-devel" // built from a working copy
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && c == "" {
			c = s.Value
		}
	}
	return v, c
}

// agent is how linerate presents itself to a peer.
func agent() string {
	v, _ := build()
	return "linerate " + v
}

// version prints what this is. Under iperf3's spelling the first line says what it stands
// in for, since scripts look at it.
func (a *app) version(words spelling) error {
	v, c := build()
	if len(c) > 12 {
		c = c[:12]
	}
	if c != "" {
		c = ", commit " + c
	}
	fmt.Fprintf(a.out, "linerate %s (%s, %s/%s%s)\n", v, runtime.Version(), runtime.GOOS, runtime.GOARCH, c)
	if words == iperf3 {
		fmt.Fprintln(a.out, "iperf 3.18 protocol: TCP, both roles")
	}
	return nil
}
