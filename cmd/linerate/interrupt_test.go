//go:build linux

package main

import (
	"os"
	"strings"
	"syscall"
	"testing"
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
