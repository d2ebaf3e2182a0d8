package guard

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// maxReport bounds a crash report kept in memory; a dump of a thousand goroutines has
// about 1 MB.
const maxReport = 16 << 20

// Main turns this process into a watcher if Start began it, and then reports true once
// its work is done. main calls it before anything else, and returns if it was one.
func Main() bool {
	task, is := os.LookupEnv(env)
	if !is {
		return false
	}
	use, dir, _ := strings.Cut(task, ":")
	signal.Ignore(survived...)
	tty := os.Stderr
	restore, err := remember(tty, Use(use).leave())
	if err != nil {
		return true // the end of the pipe tells Start
	}
	os.Stdout.Write([]byte{'.'})
	os.Stdout.Close()
	watch(os.Stdin, tty, restore, dir)
	return true
}

// watch reads until the program has ended and does what its last words ask for.
func watch(pipe io.Reader, tty io.Writer, restore func(), dir string) {
	report, _ := io.ReadAll(io.LimitReader(pipe, maxReport))
	io.Copy(io.Discard, pipe) // the program is still printing until its end
	if bytes.HasSuffix(report, []byte(markClean)) {
		return
	}
	restore()
	if bytes.HasSuffix(report, []byte(markRestore)) {
		return
	}
	for _, line := range obituary(report, dir, time.Now()) {
		io.WriteString(tty, "linerate: "+line+"\r\n")
	}
}

// obituary saves the report and gives the lines to print about it.
func obituary(report []byte, dir string, now time.Time) []string {
	if len(report) == 0 {
		return []string{"error: ended by force; the terminal has been put back"}
	}
	lines := []string{"error: crashed: " + cause(report)}
	path, err := save(report, dir, now)
	if err != nil {
		return append(lines, fmt.Sprintf("error: the crash report could not be saved: %v", err))
	}
	return append(lines, "hint: this is a bug; the crash report is in "+path)
}

// cause finds the sentence that says why. The runtime gives a fatal error's sentence to
// standard error only (Go 1.26, runtime.fatal); its report begins with an empty line and
// the stack, where the first function outside the runtime tells most.
func cause(report []byte) string {
	first, stack, _ := strings.Cut(string(report), "\n")
	if first = strings.TrimSpace(first); first != "" {
		return first
	}
	for line := range strings.Lines(stack) {
		name, _, call := strings.Cut(line, "(")
		internal := strings.HasPrefix(line, "runtime.") || strings.HasPrefix(line, "internal/")
		if call && !internal && !strings.HasPrefix(line, "\t") {
			return "fatal error of the Go runtime in " + name
		}
	}
	return "fatal error of the Go runtime"
}

// save writes the report below a few lines that say what crashed.
func save(report []byte, dir string, now time.Time) (path string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	version := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
	}
	head := fmt.Sprintf("linerate %s crashed on %s\n%s %s/%s\n%s\n\n",
		version, now.Format(time.RFC3339), runtime.Version(), runtime.GOOS, runtime.GOARCH, cause(report))
	path = filepath.Join(dir, "crash-"+now.Format("20060102-150405")+".txt")
	return path, os.WriteFile(path, append([]byte(head), report...), 0o600)
}
