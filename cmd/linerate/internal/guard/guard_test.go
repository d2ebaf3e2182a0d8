//go:build linux

package guard

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"linerate/cmd/linerate/internal/ptytest"
)

// The test binary plays the program: with victimEnv it takes the terminal over as a
// dashboard does and then comes to the end that victimEnv names.
const (
	victimEnv = "GUARD_TEST_END"
	dirEnv    = "GUARD_TEST_DIR"
)

func TestMain(m *testing.M) {
	if Main() {
		return
	}
	if end := os.Getenv(victimEnv); end != "" {
		victim(end)
	}
	os.Exit(m.Run())
}

func victim(end string) {
	g, err := Start(os.Stdout, Screen, os.Getenv(dirEnv))
	if err != nil {
		fmt.Println("guard:", err)
		os.Exit(1)
	}
	before, err := term.MakeRaw(os.Stdout.Fd())
	if err != nil {
		fmt.Println("raw mode:", err)
		os.Exit(1)
	}
	fmt.Print("\x1b[?1049h\x1b[?25l\x1b[?1002hscreen is up")
	switch end {
	case "own goroutine":
		go func() { panic("test: own goroutine") }()
		select {}
	case "library goroutine":
		// The function is ours, the goroutine and everything around it is not.
		time.AfterFunc(0, func() { panic("test: library goroutine") })
		select {}
	case "fatal error":
		m := map[int]int{}
		for range 4 {
			go func() {
				for i := 0; ; i++ {
					m[i%8]++
				}
			}()
		}
		select {}
	case "nil pointer":
		var p *int
		*p = 1
	case "kill":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "exit":
		os.Exit(3)
	case "stop":
		term.Restore(os.Stdout.Fd(), before)
		fmt.Print("\x1b[?1049l")
		g.Stop()
		fmt.Print("after stop")
		os.Exit(0)
	case "restore":
		g.Restore()
		os.Exit(0)
	}
}

func start(t *testing.T, end string) (*ptytest.Term, *exec.Cmd, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	tty := ptytest.Open(t, 80, 24)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimEnv+"="+end, dirEnv+"="+dir)
	tty.Start(t, cmd)
	return tty, cmd, dir
}

func contains(s string) func(string) bool {
	return func(output string) bool { return strings.Contains(output, s) }
}

func TestTerminalRestored(t *testing.T) {
	const limit = 20 * time.Second
	crashes := []struct{ end, cause string }{
		{"own goroutine", "panic: test: own goroutine"},
		{"library goroutine", "panic: test: library goroutine"},
		{"fatal error", "fatal error of the Go runtime in linerate/cmd/linerate/internal/guard.victim"},
		{"nil pointer", "panic: runtime error: invalid memory address"},
	}
	for _, test := range crashes {
		t.Run(test.end, func(t *testing.T) {
			t.Parallel()
			tty, cmd, dir := start(t, test.end)
			before := tty.Termios(t)
			stop := tty.Read()
			defer stop()
			cmd.Wait()
			tty.WaitFor(t, limit, "crash notice", contains("the crash report is in "+dir))
			if diff := cmp.Diff(before, tty.Termios(t)); diff != "" {
				t.Errorf("terminal settings changed (-before +after):\n%s", diff)
			}
			_, last, _ := strings.Cut(tty.Output(), Screen.leave())
			if want := "linerate: error: crashed: " + test.cause; !strings.HasPrefix(last, want) {
				t.Errorf("after the screen was left: got %q, want it to start with %q", last, want)
			}
			checkReport(t, dir, test.cause)
		})
	}
	forced := []string{"kill", "exit"}
	for _, end := range forced {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			tty, cmd, dir := start(t, end)
			before := tty.Termios(t)
			stop := tty.Read()
			defer stop()
			cmd.Wait()
			tty.WaitFor(t, limit, "notice", contains("error: ended by force"))
			if diff := cmp.Diff(before, tty.Termios(t)); diff != "" {
				t.Errorf("terminal settings changed (-before +after):\n%s", diff)
			}
			if !strings.Contains(tty.Output(), Screen.leave()) {
				t.Errorf("the screen was not left: %q", tty.Output())
			}
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("there is a crash report without a crash")
			}
		})
	}
}

func checkReport(t *testing.T, dir, cause string) {
	t.Helper()
	reports, err := filepath.Glob(filepath.Join(dir, "crash-*.txt"))
	if err != nil || len(reports) != 1 {
		t.Fatalf("crash reports in %s: got %d (%v), want 1", dir, len(reports), err)
	}
	text, err := os.ReadFile(reports[0])
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), cause) {
		t.Errorf("crash report: got %.200q, want %q in it", text, cause)
	}
	if !strings.Contains(string(text), "goroutine ") {
		t.Errorf("crash report holds no goroutines:\n%s", text)
	}
}

// A regular end leaves the terminal to the program: the watcher adds nothing.
func TestStop(t *testing.T) {
	tty, cmd, _ := start(t, "stop")
	stop := tty.Read()
	defer stop()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	tty.WaitFor(t, 20*time.Second, "end", contains("after stop"))
	want := "\x1b[?1049h\x1b[?25l\x1b[?1002hscreen is up\x1b[?1049lafter stop"
	if got := tty.Output(); got != want {
		t.Errorf("terminal got %q, want %q", got, want)
	}
}

// A program whose terminal takes no more output leaves it to the watcher, which waits
// until the terminal goes on.
func TestRestoreStalled(t *testing.T) {
	dir := t.TempDir()
	tty := ptytest.Open(t, 80, 24)
	before := tty.Termios(t)
	fill(t, tty.Slave)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), env+"="+string(Screen)+":"+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = tty.Slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if _, err := term.MakeRaw(tty.Slave.Fd()); err != nil {
		t.Fatal(err)
	}
	in.Write([]byte(markRestore))
	in.Close()
	stop := tty.Read()
	defer stop()
	tty.WaitFor(t, 20*time.Second, "end of the screen", contains(Screen.leave()))
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, tty.Termios(t)); diff != "" {
		t.Errorf("terminal settings changed (-before +after):\n%s", diff)
	}
	if !strings.HasSuffix(tty.Output(), Screen.leave()) {
		t.Errorf("the watcher printed more than the end of the screen: %q", tty.Output())
	}
}

// fill writes until the terminal takes no more.
func fill(t *testing.T, slave *os.File) {
	t.Helper()
	fd := int(slave.Fd())
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	for {
		_, err := unix.Write(fd, []byte(strings.Repeat("x", 1024)))
		if err == unix.EAGAIN {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
}
