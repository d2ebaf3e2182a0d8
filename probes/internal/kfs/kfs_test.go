package kfs

import (
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestIntNamesTheFile(t *testing.T) {
	root := fstest.MapFS{
		"sys/class/net/eth0/mtu":   {Data: []byte("1500\n")},
		"sys/class/net/eth0/speed": {Data: []byte("-1\n")},
		"sys/class/net/eth0/alias": {Data: []byte("uplink\n")},
	}
	for path, want := range map[string]int64{"sys/class/net/eth0/mtu": 1500, "sys/class/net/eth0/speed": -1} {
		if got, err := Int(root, path); err != nil || got != want {
			t.Errorf("Int(%s) = %d, %v, want %d", path, got, err, want)
		}
	}
	_, err := Int(root, "sys/class/net/eth0/alias")
	if want := `reading /sys/class/net/eth0/alias: "uplink" is not a number`; err == nil || err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	_, err = Int(root, "sys/class/net/eth1/mtu")
	if want := "reading /sys/class/net/eth1/mtu: file does not exist"; err == nil || err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
}

func TestList(t *testing.T) {
	tests := []struct {
		in   string
		want []int
		err  bool
	}{
		{"0-3\n", []int{0, 1, 2, 3}, false},
		{"0", []int{0}, false},
		{"8-9,0-1,4", []int{0, 1, 4, 8, 9}, false},
		{"0-2,1-3", []int{0, 1, 2, 3}, false},
		{"", nil, false},
		{"3-1", nil, true},
		{"0-4000000000", nil, true},
		{"0-99999999", nil, true},
		{"-1", nil, true},
		{"0,,1", nil, true},
		{"0-3:1/2", nil, true},
		{"a", nil, true},
	}
	for _, tt := range tests {
		got, err := List(tt.in)
		if diff := cmp.Diff(tt.want, got); diff != "" || (err != nil) != tt.err {
			t.Errorf("List(%q): error %v, (-want +got):\n%s", tt.in, err, diff)
		}
	}
}

func FuzzList(f *testing.F) {
	for _, s := range []string{"0-3", "0-3,8", "1-2,", "65536", "0-65535,0-65535"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list, err := List(s)
		if err != nil {
			return
		}
		if !slices.IsSorted(list) || len(list) > 2*maxList {
			t.Fatalf("List(%q) gave %d numbers, sorted %v", s, len(list), slices.IsSorted(list))
		}
		words := make([]string, len(list))
		for i, n := range list {
			words[i] = strconv.Itoa(n)
		}
		again, err := List(strings.Join(words, ","))
		if err != nil && len(list) < maxList || err == nil && !slices.Equal(list, again) {
			t.Fatalf("List(%q) = %v, written and read again: %v, %v", s, list, again, err)
		}
	})
}
