package kfs

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestFileReadsWhatIsThereNow(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "stat")
	write := func(content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, keep := range []bool{true, false} {
		f := Keep(os.DirFS(dir), "stat", keep)
		// Longer than the first buffer, shorter, empty, and longer again.
		for _, want := range []string{strings.Repeat("a line of a counter file\n", 1000), "b\n", "", strings.Repeat("c", 4096), strings.Repeat("d", 8192)} {
			write(want)
			got, err := f.Read()
			if err != nil || string(got) != want {
				t.Errorf("keep %v: %d bytes, %v, want %d", keep, len(got), err, len(want))
			}
			if (f.open != nil) != keep {
				t.Errorf("keep %v: open is %v", keep, f.open != nil)
			}
		}
		f.Close()
		write("after Close")
		if got, err := f.Read(); err != nil || string(got) != "after Close" {
			t.Errorf("keep %v: after Close %q, %v", keep, got, err)
		}
		f.Close()
	}
}

func TestFileNamesWhatIsMissing(t *testing.T) {
	f := Keep(fstest.MapFS{"proc": {Mode: fs.ModeDir}}, "proc/net/none", true)
	_, err := f.Read()
	if want := "reading /proc/net/none: file does not exist"; err == nil || err.Error() != want || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want %q", err, want)
	}
	if _, err := Keep(os.DirFS(t.TempDir()), ".", true).Read(); err == nil {
		t.Error("a folder was read")
	}
}

// A control group that was removed and made again: what is open gives an error.
func TestFileOpensAnewWhatIsGone(t *testing.T) {
	root := &dying{content: "first"}
	f := Keep(root, "cpu.stat", true)
	if got, err := f.Read(); err != nil || string(got) != "first" {
		t.Fatalf("%q, %v", got, err)
	}
	root.generation, root.content = 1, "second"
	if got, err := f.Read(); err != nil || string(got) != "second" {
		t.Errorf("after the group was made again: %q, %v", got, err)
	}
	root.generation, root.gone = 2, true
	if got, err := f.Read(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the group was removed: %q, %v", got, err)
	}
}

// dying is a file system whose open files break when the generation changes.
type dying struct {
	generation int
	content    string
	gone       bool
}

func (d *dying) Open(string) (fs.File, error) {
	if d.gone {
		return nil, fs.ErrNotExist
	}
	return &dyingFile{Reader: bytes.NewReader([]byte(d.content)), fs: d, born: d.generation}, nil
}

type dyingFile struct {
	*bytes.Reader
	fs   *dying
	born int
}

func (f *dyingFile) Stat() (fs.FileInfo, error) { return nil, errors.ErrUnsupported }
func (f *dyingFile) Close() error               { return nil }

func (f *dyingFile) ReadAt(b []byte, off int64) (int, error) {
	if f.born != f.fs.generation {
		return 0, errors.New("no such device")
	}
	return f.Reader.ReadAt(b, off)
}

func TestKeptFileAllocatesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x"), bytes.Repeat([]byte("x"), 10_000), 0o644); err != nil {
		t.Fatal(err)
	}
	f := Keep(os.DirFS(dir), "x", true)
	defer f.Close()
	if n := testing.AllocsPerRun(10, func() {
		if _, err := f.Read(); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%.0f allocations per read", n)
	}
}

func TestParseMounts(t *testing.T) {
	// Lines of Debian 12 (6.1), of a Docker container on it, and odd ones.
	const text = `22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 master:7 - ext4 /dev/vda rw,discard
64 29 8:17 / /mnt/my\040disk rw - vfat /dev/sdb1 rw,iocharset=utf8
31 23 0:28 /docker/0123 /sys/fs/cgroup/cpu,cpuacct ro,nosuid - cgroup cgroup rw,cpu,cpuacct
900 800 0:77 / / rw,relatime - overlay overlay rw,lowerdir=/l/A\072x:/l/B,upperdir=/up\134x,workdir=/w
41 31 0:38 / /mnt/odd\0 rw - tmpfs
too few - tmpfs tmpfs rw

`
	want := []Mount{
		{"0:21", "/", "/proc", "proc", "proc", []string{"rw"}},
		{"254:0", "/", "/", "ext4", "/dev/vda", []string{"rw", "discard"}},
		{"8:17", "/", "/mnt/my disk", "vfat", "/dev/sdb1", []string{"rw", "iocharset=utf8"}},
		{"0:28", "/docker/0123", "/sys/fs/cgroup/cpu,cpuacct", "cgroup", "cgroup", []string{"rw", "cpu", "cpuacct"}},
		{"0:77", "/", "/", "overlay", "overlay", []string{"rw", "lowerdir=/l/A:x:/l/B", `upperdir=/up\x`, "workdir=/w"}},
	}
	got, err := Mounts(fstest.MapFS{"proc/self/mountinfo": {Data: []byte(text)}})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func FuzzParseMounts(f *testing.F) {
	f.Add("64 29 8:17 / /mnt/my\\040disk rw - vfat /dev/sdb1 rw,utf8\n")
	f.Add(`1 2 3 \0 \777 \40 - a b` + "\n - ")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Count(text, "\n") + 1
		for _, m := range parseMounts(text) {
			if lines--; lines < 0 || m.Dev == "" || m.Type == "" {
				t.Fatalf("%q gave %+v", text, m)
			}
		}
	})
}

func TestBelow(t *testing.T) {
	tests := []struct {
		p, folder, rest string
		ok              bool
	}{
		{"/a/b", "/a", "b", true},
		{"/a", "/a", "", true},
		{"/", "/", "", true},
		{"/a/b", "/", "a/b", true},
		{"/ab", "/a", "", false},
		{"/", "/a", "", false},
		{"/docker/x/../y", "/docker", "y", true},
	}
	for _, tt := range tests {
		rest, ok := Below(tt.p, tt.folder)
		if ok != tt.ok || ok && rest != tt.rest {
			t.Errorf("Below(%s, %s) = %q, %v, want %q, %v", tt.p, tt.folder, rest, ok, tt.rest, tt.ok)
		}
	}
}

func TestResolve(t *testing.T) {
	root := fstest.MapFS{
		"sys/class/net/eth0":   {Data: []byte("../../devices/pci0000:00/0000:00:03.0/virtio2/net/eth0"), Mode: fs.ModeSymlink},
		"sys/class/net/a_file": {Data: []byte("x")},
	}
	got, err := Resolve(root, "sys/class/net/eth0")
	if want := "sys/devices/pci0000:00/0000:00:03.0/virtio2/net/eth0"; err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	for _, link := range []string{"sys/class/net/none", "sys/class/net/a_file"} {
		if got, err := Resolve(root, link); err == nil || !strings.Contains(err.Error(), "/"+link) {
			t.Errorf("%s: %q, %v, want an error that names it", link, got, err)
		}
	}
}

func TestLibrary(t *testing.T) {
	if err := Library("proc/x", "no x", nil); err != nil {
		t.Errorf("no error became %v", err)
	}
	gone := Library("proc/x", "this kernel has no x", fmt.Errorf("%w: open /tmp/fixture/proc/x: %w", errors.New("library"), fs.ErrNotExist))
	if gone.Error() != "this kernel has no x" || !errors.Is(gone, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", gone)
	}
	denied := Library("proc/x", "no x", &fs.PathError{Op: "open", Path: "/tmp/fixture/proc/x", Err: fs.ErrPermission})
	if denied.Error() != "reading /proc/x: permission denied" || !errors.Is(denied, fs.ErrPermission) {
		t.Errorf("a file of others: %v", denied)
	}
}
