package cpu

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"
)

// From Linux 6.18 (x86-64): a shell, and the same line with names that programs may
// give themselves.
const (
	bashLine = "7721 (bash) R 7718 7718 3888 0 -1 4194304 99 0 0 0 12 345 0 0 20 0 1 0 72256 3133440 390 " +
		"18446744073709551615 94440344059904 94440344079785 140733869696560 0 0 0 0 0 0 0 0 0 17 6 0 0 0 0 0 " +
		"94440344095792 94440344097408 94441255661568 140733869701826 140733869701846 140733869701846 140733869703147 0\n"
)

func TestParseTaskStat(t *testing.T) {
	for _, name := range []string{"bash", "lr-tx-1", "tmux: server", "(sd-pam)", "a) R 1 2 3", "", ")", "x (y", "é"} {
		line := bytes.Replace([]byte(bashLine), []byte("(bash)"), []byte("("+name+")"), 1)
		got, err := parseTaskStat(line)
		if err != nil {
			t.Errorf("name %q: %v", name, err)
			continue
		}
		if string(got.name) != name || got.user != 120*time.Millisecond || got.system != 3450*time.Millisecond || got.core != 6 {
			t.Errorf("name %q: got %q, user %v, system %v, core %d, want 120ms, 3.45s, core 6", name, got.name, got.user, got.system, got.core)
		}
	}
}

func TestParseTaskStatRefuses(t *testing.T) {
	for _, line := range []string{
		"", "7721", "7721 (bash", "7721 )bash(", "7721 (bash) R 1 2 3",
		bashLine[:100],
		"1 (a) R 1 1 1 0 -1 1 1 0 0 0 -5 0 0 0 20 0 1 0 7 3 3 1 9 9 1 0 0 0 0 0 0 0 0 0 17 6 0",
		"1 (a) R 1 1 1 0 -1 1 1 0 0 0 99999999999999999999 0 0 0 20 0 1 0 7 3 3 1 9 9 1 0 0 0 0 0 0 0 0 0 17 6 0",
	} {
		if got, err := parseTaskStat([]byte(line)); !errors.Is(err, errTaskStat) {
			t.Errorf("%q gave %+v, %v, want errTaskStat", line, got, err)
		}
	}
}

func FuzzParseTaskStat(f *testing.F) {
	f.Add([]byte(bashLine))
	f.Add([]byte("1 (a) b) R 1"))
	f.Fuzz(func(t *testing.T, line []byte) {
		s, err := parseTaskStat(line)
		if err != nil {
			if !errors.Is(err, errTaskStat) {
				t.Fatalf("undeclared error %v", err)
			}
			return
		}
		if s.user < 0 || s.system < 0 || s.core < 0 {
			t.Fatalf("negative value in %+v", s)
		}
		again, err := parseTaskStat(fmt.Appendf(nil, "1 (%s) R 4 5 6 7 8 9 10 11 12 13 %d %d 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 %d",
			s.name, s.user/(10*time.Millisecond), s.system/(10*time.Millisecond), s.core))
		if err != nil || !bytes.Equal(again.name, s.name) || again.user != s.user || again.system != s.system || again.core != s.core {
			t.Fatalf("written and read again: %+v, %v, want %+v", again, err, s)
		}
	})
}
