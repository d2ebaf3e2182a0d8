//go:build linux

package lab

import (
	"testing"
	"time"
)

// What the test has started itself is none of the others', whatever it uses.
func TestNetnsOthers(t *testing.T) {
	Need(t)
	all, err := processes()
	if err != nil {
		t.Fatal(err)
	}
	if all[1].used == 0 && len(all) < 3 {
		t.Fatalf("no processes were read: %v", all)
	}
	h := NewHost(t, "h")
	h.Burn(t, 1)
	m, err := Watch()
	if err != nil {
		t.Fatal(err)
	}
	before := own(t)
	time.Sleep(500 * time.Millisecond)
	if used := own(t) - before; used < 100*time.Millisecond {
		t.Errorf("burners have used %v", used)
	}
	others, err := m.Others()
	if err != nil || others < 0 {
		t.Errorf("others use %v cores (%v)", others, err)
	}
}

// own is what this process and its children have used.
func own(t *testing.T) (used time.Duration) {
	t.Helper()
	all, err := processes()
	if err != nil {
		t.Fatal(err)
	}
	others, err := usedByOthers()
	if err != nil {
		t.Fatal(err)
	}
	for pid := range all {
		if !below(all, pid, kthreadd) {
			used += all[pid].used
		}
	}
	return used - others
}

func TestParseStat(t *testing.T) {
	pid, p, err := parseStat("77 (a) b (c) S 5 77 77 0 -1 4194560 1 2 3 4 100 50 7 3 20 0 1 0 9\n")
	if want := (process{5, 1600 * time.Millisecond}); pid != 77 || p != want || err != nil {
		t.Errorf("%d, %v, %v, want 77, %v", pid, p, err, want)
	}
	for _, bad := range []string{"", "x (a) S 5", "77 (a) S 5", "77 (a) S x 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1"} {
		if _, _, err := parseStat(bad); err == nil {
			t.Errorf("%q is taken for a process", bad)
		}
	}
}
