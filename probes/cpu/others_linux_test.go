//go:build linux

package cpu

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/probes"
)

func TestOthers(t *testing.T) {
	dir := t.TempDir()
	for pid, text := range map[int]string{
		2:               "2 (kthreadd) S" + ticks(0, 0, 3),
		16:              "16 (ksoftirqd/0) S" + ticks(0, 5000, 0),
		900:             "900 (a (b) c) R" + ticks(100, 50, 1),
		os.Getpid():     "1 (this one) R" + ticks(9, 9, 9),
		os.Getpid() * 2: "", // has just ended
	} {
		folder := filepath.Join(dir, "proc", fmt.Sprint(pid))
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(folder, "stat"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "proc", "sys"), 0o755); err != nil {
		t.Fatal(err)
	}
	got, err := NewAt(dir).Others(nil)
	want := []probes.ThreadTimes{
		{TID: 2, Name: "kthreadd", Core: 3},
		{TID: 16, Name: "ksoftirqd/0", System: 50 * time.Second},
		{TID: 900, Name: "a (b) c", User: time.Second, System: 500 * time.Millisecond, Core: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := NewAt(t.TempDir()).Others(nil); err == nil {
		t.Error("no error without /proc")
	}
}

// ticks is the rest of a line of /proc/PID/stat after its state.
func ticks(user, system, core int) string {
	rest := " 0 0 0 0 0 0 0 0 0 0" // columns 4 to 13
	rest += fmt.Sprintf(" %d %d", user, system)
	for range 23 { // 16 to 38
		rest += " 0"
	}
	return rest + fmt.Sprintf(" %d 0 0\n", core)
}

// A program that works shows up with its time, this one does not.
func TestOthersOfThisComputer(t *testing.T) {
	busy := exec.Command("/bin/sh", "-c", "while :; do :; done")
	if err := busy.Start(); err != nil {
		t.Skipf("no shell: %v", err)
	}
	defer func() {
		_ = busy.Process.Kill()
		_ = busy.Wait()
	}()
	r := New()
	defer r.Close()
	deadline := time.Now().Add(10 * time.Second)
	for {
		all, err := r.Others(nil)
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(all, func(p probes.ThreadTimes) bool { return p.TID == os.Getpid() }) {
			t.Fatal("this process is among the others")
		}
		if slices.ContainsFunc(all, func(p probes.ThreadTimes) bool {
			return p.TID == busy.Process.Pid && p.Name == "sh" && p.User+p.System >= 20*time.Millisecond
		}) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the shell's time was not seen among %d processes", len(all))
		}
	}
}
