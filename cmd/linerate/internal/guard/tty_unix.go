//go:build unix

package guard

import (
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// survived are the signals that come from the terminal or are sent to a whole job. SIGTTOU
// is among them because the watcher may restore the terminal from the background.
var survived = []os.Signal{
	syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE,
	syscall.SIGTSTP, syscall.SIGTTOU, syscall.SIGTTIN,
}

// detached gives the watcher a session of its own, out of reach of Ctrl-C, Ctrl-Z and the
// hang-up of the terminal.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// remember reads the settings of the terminal and returns what restores them and leaves
// the screen. The settings come first: setting them never waits for a stalled terminal.
func remember(tty *os.File, leave string) (restore func(), err error) {
	fd := int(tty.Fd())
	before, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, err
	}
	return func() {
		// Without our settings the terminal is no longer ours: after a kill -9 the shell
		// may have been faster and set it up for its own line editor.
		now, err := unix.IoctlGetTermios(fd, getTermios)
		if err != nil || dashboards(now) || keyboards(now) {
			unix.IoctlSetTermios(fd, setTermios, before)
		}
		io.WriteString(tty, leave)
	}, nil
}

// dashboards tells the raw mode of a full screen: line editors keep signals and output
// processing.
func dashboards(s *unix.Termios) bool { return s.Oflag&unix.OPOST == 0 || s.Lflag&unix.ISIG == 0 }

// keyboards tells the mode of package keyboard: line editors wait for at least one byte.
func keyboards(s *unix.Termios) bool { return s.Lflag&unix.ICANON == 0 && s.Cc[unix.VMIN] == 0 }
