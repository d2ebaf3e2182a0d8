package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "linerate"

// imports is who may import whom. A package that is not listed may not exist; what is not
// listed for it, it may not import. "x/..." stands for x and all below it. The standard
// library is free, other modules are listed as "module!" below.
var imports = []struct {
	pkg     string
	allowed []string
}{
	{"probes", nil},
	{"probes/internal/...", []string{"probes", "probes/internal/...", "golang.org/x/sys!", "github.com/vishvananda/netlink!"}},
	{"probes/cpu", noun}, {"probes/memory", noun}, {"probes/nic", noun}, {"probes/netstack", noun}, {"probes/pressure", noun},
	{"probes/sysctl", noun}, {"probes/firewall", noun}, {"probes/disk", noun}, {"probes/pathmtu", noun}, {"probes/pathrtt", noun},
	{"probes/host", []string{"probes", "probes/cpu", "probes/memory", "probes/nic", "probes/netstack", "probes/pressure", "probes/sysctl", "probes/firewall",
		"probes/disk", "probes/pathmtu", "probes/pathrtt", "probes/internal/kfs", "github.com/shirou/gopsutil/v3!"}},
	{"probes/host/hosttest", []string{"probes", "probes/internal/..."}},
	{"probes/nstest", []string{"golang.org/x/sys!", "github.com/vishvananda/netlink!"}},
	{"engine", []string{"probes"}},
	{"engine/unit", nil},
	{"engine/internal/wire", nil},
	{"engine/internal/sock", []string{"engine", "probes", "golang.org/x/sys!"}},
	{"engine/iperf", []string{"engine", "engine/unit", "engine/internal/wire", "engine/internal/sock", "probes", "golang.org/x/sys!", "golang.org/x/sync!"}},
	{"engine/diagnose", []string{"engine", "engine/unit", "probes"}},
	{"engine/report", []string{"engine", "engine/unit", "engine/compare", "probes", "github.com/guptarohit/asciigraph!"}},
	{"engine/report/reporttest", nil},
	{"engine/session", []string{"engine", "engine/unit", "engine/iperf", "engine/diagnose", "engine/compare", "probes", "golang.org/x/sync!"}},
	{"engine/session/sessiontest", []string{"engine", "engine/unit", "engine/session", "engine/iperf", "probes", "probes/host", "probes/host/hosttest"}},
	{"tui/...", []string{"tui/internal/...", "engine", "engine/unit", "probes",
		"github.com/charmbracelet/bubbletea!", "github.com/charmbracelet/bubbles!", "github.com/charmbracelet/lipgloss!", "github.com/charmbracelet/x/term!", "github.com/charmbracelet/x/ansi!",
		"github.com/muesli/termenv!", "github.com/mattn/go-runewidth!", "github.com/guptarohit/asciigraph!", "golang.org/x/sys!"}},
	{"cmd/linerate", []string{"cmd/linerate/internal/...", "engine", "engine/unit", "engine/iperf", "engine/report", "engine/session", "probes", "probes/host", "tui",
		"engine/diagnose", // doctor reads and writes documents of evidence and has them judged
		"github.com/spf13/cobra!", "github.com/spf13/pflag!", "github.com/adrg/xdg!", "github.com/google/renameio/v2!", "github.com/charmbracelet/x/term!", "golang.org/x/sys!"}},
	{"cmd/linerate/internal/quiet", nil},
	{"cmd/linerate/internal/guard", []string{"golang.org/x/sys!"}},
	{"cmd/linerate/internal/keyboard", []string{"golang.org/x/sys!"}},
	{"cmd/linerate/internal/ptytest", []string{"golang.org/x/sys!"}},
	{"cmd/linerate/internal/lab", []string{"probes/nstest", "golang.org/x/sys!", "github.com/vishvananda/netlink!", "github.com/vishvananda/netns!"}},
}

// noun is what a package that reads one noun from the system may import: never another
// such package.
var noun = []string{"probes", "probes/internal/...", "github.com/shirou/gopsutil/v3!", "github.com/prometheus/procfs!", "golang.org/x/sys!"}

// linuxOnly does not build everywhere and stays in files named for Linux.
var linuxOnly = []string{"github.com/vishvananda/netlink", "github.com/google/renameio"}

// forTests is imported by tests only.
var forTests = []string{"probes/host/hosttest", "probes/nstest", "engine/report/reporttest", "engine/session/sessiontest", "cmd/linerate/internal/ptytest", "cmd/linerate/internal/lab"}

func TestImports(t *testing.T) {
	for dir, files := range sources(t) {
		allowed, known := allowedFor(dir)
		if !known {
			t.Errorf("%s: not in the import table: add it there, with what it may import", dir)
			continue
		}
		for name, file := range files {
			for _, spec := range file.Imports {
				checkImport(t, dir, name, strings.Trim(spec.Path.Value, `"`), allowed)
			}
		}
	}
}

func checkImport(t *testing.T, dir, name, imported string, allowed []string) {
	t.Helper()
	isTest := strings.HasSuffix(name, "_test.go")
	local, ours := strings.CutPrefix(imported, module+"/")
	switch {
	case ours && strings.HasPrefix(local, "cmd/") && !strings.HasPrefix(dir, "cmd/"):
		t.Errorf("%s/%s imports %s: nobody imports cmd", dir, name, imported)
	case isTest:
		// Tests may build the world they need; the rule above is all.
	case ours && slices.Contains(forTests, local) && !slices.Contains(forTests, dir):
		t.Errorf("%s/%s imports %s: only tests may", dir, name, imported)
	case ours && !matches(local, allowed):
		t.Errorf("%s/%s imports %s: not in the import table", dir, name, imported)
	case !ours && isModule(imported) && !matchesModule(imported, allowed):
		t.Errorf("%s/%s imports %s: not in the import table", dir, name, imported)
	}
	for _, prefix := range linuxOnly {
		if strings.HasPrefix(imported, prefix) && !strings.HasSuffix(name, "_linux.go") && !strings.HasSuffix(name, "_linux_test.go") {
			t.Errorf("%s/%s imports %s: only files named _linux.go may", dir, name, imported)
		}
	}
}

// isModule tells other modules from the standard library, whose paths have no dot in
// their first element.
func isModule(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return strings.Contains(first, ".")
}

func allowedFor(dir string) (allowed []string, known bool) {
	for _, row := range imports {
		if matches(dir, []string{row.pkg}) {
			// The last row that fits is the most exact one.
			allowed, known = row.allowed, true
		}
	}
	return allowed, known
}

func matches(pkg string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		below, all := strings.CutSuffix(p, "/...")
		return pkg == p || all && (pkg == below || strings.HasPrefix(pkg, below+"/"))
	})
}

func matchesModule(imported string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		mod, isModule := strings.CutSuffix(p, "!")
		return isModule && (imported == mod || strings.HasPrefix(imported, mod+"/"))
	})
}

func TestPackageComments(t *testing.T) {
	for dir, files := range sources(t) {
		comments := 0
		for name, file := range files {
			if file.Doc != nil && !strings.HasSuffix(name, "_test.go") {
				comments++
			}
		}
		if comments != 1 {
			t.Errorf("%s: %d files have a package comment, want 1", dir, comments)
		}
	}
}

func TestPackageNames(t *testing.T) {
	for dir := range sources(t) {
		if slices.Contains([]string{"util", "utils", "common", "helpers", "helper", "misc", "types", "models", "pkg"}, path.Base(dir)) {
			t.Errorf("%s: name the package by what it provides", dir)
		}
	}
}

// sources parses every Go file of the module, with the head of each only.
func sources(t *testing.T) map[string]map[string]*ast.File {
	t.Helper()
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal(err)
	}
	found := map[string]map[string]*ast.File{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "dist"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(p, ".go"):
			return nil
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(rel))
		if dir == "." {
			return nil // deps.go holds module versions and is never built
		}
		file, err := parser.ParseFile(token.NewFileSet(), p, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		if found[dir] == nil {
			found[dir] = map[string]*ast.File{}
		}
		found[dir][filepath.Base(p)] = file
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The table itself must be able to refuse.
func TestImportTable(t *testing.T) {
	tests := []struct {
		dir, imported string
		want          bool
	}{
		{"probes/cpu", "probes/internal/kfs", true},
		{"probes/cpu", "probes/nic", false},
		{"engine/iperf", "engine/session", false},
		{"tui/internal/pane", "engine/session", false},
		{"tui/internal/pane", "tui/internal/grid", true},
		{"engine", "probes", true},
		{"probes", "engine", false},
	}
	for _, test := range tests {
		allowed, known := allowedFor(test.dir)
		if !known {
			t.Errorf("%s is not in the table", test.dir)
		}
		if got := matches(test.imported, allowed); got != test.want {
			t.Errorf("%s may import %s: got %v, want %v", test.dir, test.imported, got, test.want)
		}
	}
}
