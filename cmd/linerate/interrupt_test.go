//go:build linux

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The first signal ends a test regularly: both ends' results, status 0.
func TestSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			port, server := serve(t)
			client := start(t, linerate(t.Context(), "run", "127.0.0.1", "-p", port, "-t", "60", "-b", "20M", "-i", "0.2"))
			client.out.await(t, "sec", 2)
			client.Process.Signal(sig)
			if code := client.end(t); code != 0 {
				t.Errorf("exit code: got %d, want 0; stderr:\n%s", code, client.err)
			}
			for _, want := range []string{" sender\n", " receiver\n", "iperf Done."} {
				if !strings.Contains(client.out.String(), want) {
					t.Errorf("no %q in:\n%s", want, client.out)
				}
			}
			server.Process.Signal(os.Interrupt)
			if code := server.end(t); code != 0 {
				t.Errorf("server's exit code: got %d, want 0", code)
			}
			if got := server.out.String(); !strings.Contains(got, "test 1: ") || strings.Contains(got, "interrupted") {
				t.Errorf("the server saw no regular end:\n%s", got)
			}
		})
	}
}

func TestSignalLikeIperf3(t *testing.T) {
	t.Parallel()
	port, _ := serve(t)
	client := start(t, linerate(t.Context(), "-c", "127.0.0.1", "-p", port, "-t", "60", "-b", "20M", "-i", "0.2"))
	client.out.await(t, "sec", 2)
	client.Process.Signal(os.Interrupt)
	if code := client.end(t); code != 0 {
		t.Errorf("exit code: got %d, want 0 as iperf3 since 3.19", code)
	}
	want := "iperf3: interrupt - the client has terminated by signal Interrupt(2)\n"
	if got := client.err.String(); got != want {
		t.Errorf("stderr: got %q, want %q", got, want)
	}
}

// A second signal does not wait for a server that says nothing any more.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	port, server := serve(t)
	client := start(t, linerate(t.Context(), "run", "127.0.0.1", "-p", port, "-t", "60", "-b", "20M", "-i", "0.2"))
	client.out.await(t, "sec", 2)
	server.Process.Signal(syscall.SIGSTOP)
	defer server.Process.Signal(syscall.SIGCONT)
	client.Process.Signal(os.Interrupt)
	client.Process.Signal(syscall.SIGTERM)
	if code := client.end(t); code != exitInterrupted {
		t.Errorf("exit code: got %d, want %d; stderr:\n%s", code, exitInterrupted, client.err)
	}
	if !strings.Contains(client.out.String(), " sender\n") {
		t.Errorf("what was measured is lost:\n%s", client.out)
	}
}

// A reader of the report that has stopped reading does not keep the program from ending.
func TestSecondSignalBlockedOutput(t *testing.T) {
	t.Parallel()
	port, _ := serve(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 4096); err != nil {
		t.Fatal(err)
	}
	client := linerate(t.Context(), "run", "127.0.0.1", "-p", port, "-t", "60", "-b", "1M", "-P", "16", "-i", "0.1")
	client.Stdout = w
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	awaitBlocked(t, r)
	client.Process.Signal(os.Interrupt)
	client.Process.Signal(syscall.SIGTERM)
	if code := exitCode(t, client, patience); code != exitInterrupted {
		t.Errorf("exit code: got %d, want %d", code, exitInterrupted)
	}
}

// awaitBlocked waits until a pipe of one page is so full that a report no longer fits.
func awaitBlocked(t *testing.T, r *os.File) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if n, err := unix.IoctlGetInt(int(r.Fd()), unix.TIOCINQ); err != nil {
			t.Fatal(err)
		} else if n > 3000 {
			return
		}
	}
	t.Fatalf("the pipe is not full after %v", patience)
}
