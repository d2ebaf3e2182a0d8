package disk

import (
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"linerate/probes"
)

func linux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skipf("disks are read on Linux only, this is %s", runtime.GOOS)
	}
}

// shelf has one disk of each kind, at the places where Linux 6.8 has them in sysfs, and the
// mounts that lead to them.
func shelf() fstest.MapFS {
	root := fstest.MapFS{}
	file := func(path, content string) { root[path] = &fstest.MapFile{Data: []byte(content + "\n")} }
	link := func(path, target string) {
		root[path] = &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink}
	}
	disk := func(number, name, folder string) {
		file("sys/"+folder+"/queue/rotational", "0")
		link("sys/dev/block/"+number, "../../"+folder)
		link("sys/class/block/"+name, "../../"+folder)
	}
	part := func(number, name, folder string) {
		file("sys/"+folder+"/partition", "1")
		link("sys/dev/block/"+number, "../../"+folder)
		link("sys/class/block/"+name, "../../"+folder)
	}
	pci := func(folder, speed, width string) {
		file("sys/"+folder+"/current_link_speed", speed+" GT/s PCIe")
		file("sys/"+folder+"/current_link_width", width)
	}

	// PCIe 4 x4 behind a port that runs as PCIe 3, and one in a slot with one lane.
	const fast, slow = "devices/pci0000:00/0000:00:01.2/0000:01:00.0", "devices/pci0000:00/0000:00:1c.4/0000:02:00.0"
	pci("devices/pci0000:00/0000:00:01.2", "8.0", "4")
	pci(fast, "16.0", "4")
	pci(slow, "5.0", "1")
	disk("259:0", "nvme0n1", fast+"/nvme/nvme0/nvme0n1")
	part("259:2", "nvme0n1p2", fast+"/nvme/nvme0/nvme0n1/nvme0n1p2")
	disk("259:5", "nvme1n1", slow+"/nvme/nvme1/nvme1n1")
	// The cloud's, which tells no link.
	disk("259:9", "nvme9n1", "devices/pci0000:00/0000:00:04.0/nvme/nvme9/nvme9n1")
	file("sys/devices/pci0000:00/0000:00:04.0/nvme/nvme9/nvme9n1/device/model", "Amazon Elastic Block Store")
	disk("259:8", "nvme8n1", "devices/pci0000:00/0000:00:05.0/nvme/nvme8/nvme8n1")

	const sata = "devices/pci0000:00/0000:00:17.0/"
	disk("8:0", "sda", sata+"ata1/host0/target0:0:0/0:0:0:0/block/sda")
	part("8:1", "sda1", sata+"ata1/host0/target0:0:0/0:0:0:0/block/sda/sda1")
	file("sys/class/ata_link/link1/sata_spd", "6.0 Gbps")
	disk("8:16", "sdb", sata+"ata2/host1/target1:0:0/1:0:0:0/block/sdb")
	file("sys/"+sata+"ata2/host1/target1:0:0/1:0:0:0/block/sdb/queue/rotational", "1")
	file("sys/class/ata_link/link2/sata_spd", "3.0 Gbps")
	disk("8:32", "sdc", sata+"ata3/host2/target2:0:0/2:0:0:0/block/sdc")
	file("sys/"+sata+"ata3/host2/target2:0:0/2:0:0:0/block/sdc/queue/rotational", "1")
	file("sys/class/ata_link/link3/sata_spd", "1.5 Gbps")
	disk("8:144", "sdj", "devices/pci0000:00/0000:03:00.0/host9/port-9:0/end_device-9:0/target9:0:0/9:0:0:0/block/sdj")

	const usb = "devices/pci0000:00/0000:00:14.0/usb2/2-1/"
	disk("8:48", "sdd", usb+"2-1:1.0/host3/target3:0:0/3:0:0:0/block/sdd")
	file("sys/"+usb+"speed", "5000")
	disk("8:64", "sde", "devices/pci0000:00/0000:00:14.0/usb1/1-4/1-4.2/1-4.2:1.0/host4/target4:0:0/4:0:0:0/block/sde")
	file("sys/devices/pci0000:00/0000:00:14.0/usb1/1-4/speed", "5000")
	file("sys/devices/pci0000:00/0000:00:14.0/usb1/1-4/1-4.2/speed", "480")

	disk("254:0", "vda", "devices/pci0000:00/0000:00:02.0/virtio1/block/vda")
	disk("8:80", "sdf", "devices/pci0000:00/0000:00:10.0/host5/target5:0:0/5:0:0:0/block/sdf")
	file("sys/devices/pci0000:00/0000:00:10.0/host5/target5:0:0/5:0:0:0/block/sdf/device/vendor", "VMware  ")
	disk("179:0", "mmcblk0", "devices/platform/emmc2bus/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0")
	disk("43:0", "nbd0", "devices/virtual/block/nbd0")
	disk("252:0", "zram0", "devices/virtual/block/zram0")

	// LVM on a partition, RAID of two disks, RAID of two kinds, a file as a disk.
	disk("253:0", "dm-0", "devices/virtual/block/dm-0")
	file("sys/devices/virtual/block/dm-0/slaves/sda1/x", "")
	link("dev/mapper/vg-root", "../dm-0")
	disk("9:0", "md0", "devices/virtual/block/md0")
	file("sys/devices/virtual/block/md0/slaves/nvme0n1p2/x", "")
	file("sys/devices/virtual/block/md0/slaves/nvme1n1/x", "")
	disk("9:1", "md1", "devices/virtual/block/md1")
	file("sys/devices/virtual/block/md1/slaves/sda/x", "")
	file("sys/devices/virtual/block/md1/slaves/sdb/x", "")
	disk("7:0", "loop0", "devices/virtual/block/loop0")
	file("sys/devices/virtual/block/loop0/loop/backing_file", "/srv/image")
	disk("7:1", "loop1", "devices/virtual/block/loop1")
	file("sys/devices/virtual/block/loop1/loop/backing_file", "/mnt/loop1/itself")
	disk("253:9", "dm-9", "devices/virtual/block/dm-9")
	file("sys/devices/virtual/block/dm-9/slaves/gone/x", "")
	file("var/lib/docker/overlay2/u/x", "")

	file("proc/self/mountinfo", `22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 259:2 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p2 rw
30 27 0:24 / /tmp rw,nosuid - tmpfs tmpfs rw,size=8g
31 27 253:0 / /home rw - xfs /dev/mapper/vg-root rw
32 27 8:16 / /srv rw - ext4 /dev/sdb rw
33 27 0:55 /@ /data rw - btrfs /dev/sda1 rw,subvol=/@
34 27 0:56 / /vg rw - btrfs /dev/mapper/vg-root rw
35 27 0:57 / /tank rw - zfs tank/home rw
36 27 0:58 / /net rw - nfs4 server:/x rw
37 27 0:59 / /ssh rw - fuse.sshfs me@server:/ rw
38 27 0:60 / /share rw - virtiofs tag rw
39 27 0:61 / /merged rw - overlay overlay rw,lowerdir=/l,upperdir=/var/lib/docker/overlay2/u,workdir=/w
40 27 0:62 / /container rw - overlay overlay rw,lowerdir=/l,upperdir=/elsewhere/u,workdir=/w
41 27 9:0 / /raid rw - ext4 /dev/md0 rw
42 27 9:1 / /mixed rw - ext4 /dev/md1 rw
43 27 7:0 / /mnt/loop rw - ext4 /dev/loop0 rw
44 27 7:1 / /mnt/loop1 rw - ext4 /dev/loop1 rw
45 27 8:99 / /mnt/hidden rw - ext4 /dev/sdz rw
46 27 253:9 / /mnt/gone rw - ext4 /dev/dm-9 rw
50 27 259:5 / /mnt/nvme1 rw - ext4 /dev/nvme1n1 rw
51 27 259:9 / /mnt/ebs rw - ext4 /dev/nvme9n1 rw
52 27 8:32 / /mnt/sdc rw - ext4 /dev/sdc rw
53 27 8:48 / /mnt/sdd rw - exfat /dev/sdd rw
54 27 8:64 / /mnt/sde rw - vfat /dev/sde rw
55 27 254:0 / /mnt/vda rw - ext4 /dev/vda rw
56 27 8:80 / /mnt/sdf rw - ext4 /dev/sdf rw
57 27 179:0 / /mnt/mmc rw - ext4 /dev/mmcblk0 rw
58 27 43:0 / /mnt/nbd rw - ext4 /dev/nbd0 rw
59 27 252:0 / /mnt/zram rw - ext4 /dev/zram0 rw
60 27 8:144 / /mnt/sas rw - ext4 /dev/sdj rw
61 27 259:8 / /mnt/nvme8 rw - ext4 /dev/nvme8n1 rw
62 60 8:0 / /mnt/sas rw - ext4 /dev/sda rw
`)
	return root
}

func TestRead(t *testing.T) {
	linux(t)
	r := &Reader{root: shelf()}
	got := probes.Got[string]
	none := func(reason string) probes.Reading[string] { return probes.Unknown[string](probes.Absent, reason) }
	tests := []struct {
		path, name string
		class      probes.Reading[string]
		limit      float64 // bits/s; 0: unknown
		why        string  // part of the reason for an unknown limit
		file       string
	}{
		{"/var/tmp/new/file", "nvme0n1", got("nvme"), 28.0e9, "", "ext4"}, // PCIe 3 x4: 3.5 GB/s
		{"/mnt/nvme1/x", "nvme1n1", got("nvme"), 3.56e9, "", "ext4"},      // PCIe 2 x1
		{"/mnt/nvme8/x", "nvme8n1", got("nvme"), 0, "PCIe link is not visible", "ext4"},
		{"/mnt/ebs/x", "nvme9n1", none("nvme9n1: a volume of the cloud, behind its network"), 0, "behind its network", "ext4"},
		{"/home/me", "sda", got("ssd"), 4.4e9, "", "xfs"}, // LVM on SATA 6 Gbit/s: 550 MB/s
		{"/srv/image", "sdb", got("hdd"), 2.2e9, "", "ext4"},
		{"/mnt/sdc/x", "sdc", got("hdd"), 1.1e9, "", "ext4"}, // the bus is slower than the disk
		{"/mnt/sas/x", "sda", got("ssd"), 4.4e9, "", "ext4"}, // mounted over another
		{"/mnt/sdd/x", "sdd", got("usb"), 3.36e9, "", "exfat"},
		{"/mnt/sde/x", "sde", got("usb"), 0.323e9, "", "vfat"},
		{"/mnt/mmc/x", "mmcblk0", got("mmc"), 0, "root only", "ext4"},
		{"/tmp/x", "tmpfs", got("memory"), 0, "memory is on no bus", "tmpfs"},
		{"/mnt/zram/x", "zram0", got("memory"), 0, "memory is on no bus", "ext4"},
		{"/mnt/vda/x", "vda", none("vda is a virtual disk: the hypervisor does not tell what is behind it"), 0, "virtual disk", "ext4"},
		{"/mnt/sdf/x", "sdf", none("sdf is a virtual disk: the hypervisor does not tell what is behind it"), 0, "virtual disk", "ext4"},
		{"/mnt/nbd/x", "nbd0", none("nbd0: the disk is on another computer"), 0, "another computer", "ext4"},
		{"/data/x", "sda", got("ssd"), 4.4e9, "", "btrfs"},
		{"/vg/x", "sda", got("ssd"), 4.4e9, "", "btrfs"},
		{"/raid/x", "md0", got("nvme"), 0, "2 disks work together", "ext4"},
		{"/mixed/x", "md1", none("disks of several kinds work together"), 0, "2 disks work together", "ext4"},
		{"/mnt/loop/x", "loop0", got("hdd"), 2.2e9, "", "ext4"},
		{"/mnt/loop1/x", "loop1", none("too many devices below one another"), 0, "too many", "ext4"},
		{"/merged/x", "nvme0n1", got("nvme"), 28.0e9, "", "overlay"},
		{"/container/x", "", none("overlay: the disk below it is not visible from here"), 0, "not visible", "overlay"},
		{"/tank/x", "", none("zfs: its disks are not known to the kernel's list of mounts"), 0, "zfs", "zfs"},
		{"/net/x", "", none("nfs4: the files are on another computer"), 0, "nfs4", "nfs4"},
		{"/ssh/x", "", none("sshfs: the files are on another computer"), 0, "sshfs", "fuse.sshfs"},
		{"/share/x", "", none("virtiofs: the files are on the host of this virtual machine"), 0, "virtiofs", "virtiofs"},
		{"/mnt/hidden/x", "", none("the disk with the number 8:99 is not visible from here"), 0, "8:99", "ext4"},
		{"/mnt/gone/x", "", none("the disk gone is not visible from here"), 0, "gone", "ext4"},
	}
	for _, tt := range tests {
		d := r.Read(t.Context(), tt.path)
		if d.Name != tt.name || d.Class != tt.class || d.File != tt.file {
			t.Errorf("%s: %q, class %+v, file system %q, want %q, %+v, %q", tt.path, d.Name, d.Class, d.File, tt.name, tt.class, tt.file)
		}
		if d.LimitBps.Known() != (tt.limit != 0) || math.Abs(d.LimitBps.Value-tt.limit) > tt.limit/50 || !strings.Contains(d.LimitBps.Why(), tt.why) {
			t.Errorf("%s: limit %.3g, %q, want %.3g, %q", tt.path, d.LimitBps.Value, d.LimitBps.Why(), tt.limit, tt.why)
		}
	}
}

func TestReadWithoutAnything(t *testing.T) {
	linux(t)
	for name, root := range map[string]fstest.MapFS{
		"without /proc":  {},
		"without mounts": {"proc/self/mountinfo": {}},
		"without /sys":   {"proc/self/mountinfo": {Data: []byte("27 1 8:1 / / rw - ext4 /dev/sda1 rw\n")}},
	} {
		d := (&Reader{root: root}).Read(t.Context(), "/x")
		if d.Class.Status != probes.Absent || d.LimitBps.Status != probes.Absent || d.Class.Reason == "" {
			t.Errorf("%s: %+v", name, d)
		}
	}
	half := shelf()
	delete(half, "sys/class/ata_link/link1/sata_spd")
	half["sys/class/ata_link/link3/sata_spd"].Data = []byte("<unknown>\n")
	r := &Reader{root: half}
	if d := r.Read(t.Context(), "/home"); d.Class != probes.Got("ssd") || d.LimitBps.Status != probes.Absent {
		t.Errorf("an SSD without a speed: %+v", d)
	}
	if d := r.Read(t.Context(), "/mnt/sdc"); d.LimitBps != probes.Got(float64(spinning)) {
		t.Errorf("a hard disk without a speed: %+v", d)
	}
}

// Every real path leads to something or has a reason.
func TestThisComputer(t *testing.T) {
	r := New()
	defer r.Close()
	dir := t.TempDir()
	if err := os.Symlink(dir, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	here := r.Read(t.Context(), dir)
	if here.Class.Known() == (here.Class.Why() != "") || here.Class.Status == probes.NotRead {
		t.Errorf("%s: %+v", dir, here)
	}
	for _, path := range []string{filepath.Join(dir, "link/not/yet"), filepath.Join(dir, "x", "..", "y")} {
		if d := r.Read(t.Context(), path); d != here {
			t.Errorf("%s: %+v, want %+v as of %s", path, d, here, dir)
		}
	}
	if runtime.GOOS != "linux" {
		if here.Class.Status != probes.Unsupported {
			t.Errorf("%+v, want it unsupported", here)
		}
		return
	}
	if shm := r.Read(t.Context(), "/dev/shm"); shm.File == "tmpfs" && shm.Class != probes.Got("memory") {
		t.Errorf("/dev/shm: %+v", shm)
	}
	times := r.Times()
	for _, d := range times.Value {
		if d.Name == "" || noDisk(d.Name) {
			t.Errorf("%+v", d)
		}
	}
	if dirty := r.Dirty(); !times.Known() || !dirty.Known() || dirty.Value < 0 {
		t.Errorf("disks %q, dirty %+v", times.Why(), dirty)
	}
}

func TestTimes(t *testing.T) {
	linux(t)
	dir := t.TempDir()
	r := NewAt(dir)
	if got := r.Times(); got.Status != probes.Absent || strings.Contains(got.Reason, dir) {
		t.Errorf("without /proc: %+v", got)
	}
	// Lines of Linux 6.18, 4.18 and 3.10.
	const text = `   7       0 loop0 9 0 9 9 0 0 0 0 0 0 0 0 0 0 0 0 0
 253       0 zram0 9 0 9 9 0 0 0 0 0 0 0 0 0 0 0 0 0
 254       0 vda 102355 22857 3904034 45018 38847 155414 12303048 55731 0 19232 106001 48474 39 3592544 5240 204 10
   8       1 sda1 10 0 80 5 20 0 160 6 0 7000 11 0 0 0 0
 179       0 mmcblk0 1 0 2 3 4 5 6 7 0 8 9
`
	if err := os.MkdirAll(filepath.Join(dir, "proc"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "proc/diskstats"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	want := probes.Got([]probes.DiskTimes{
		{Name: "vda", ReadBytes: 3904034 * 512, WrittenBytes: 12303048 * 512, Busy: 19232 * time.Millisecond},
		{Name: "sda1", ReadBytes: 80 * 512, WrittenBytes: 160 * 512, Busy: 7 * time.Second},
		{Name: "mmcblk0", ReadBytes: 2 * 512, WrittenBytes: 6 * 512, Busy: 8 * time.Millisecond},
	})
	if diff := cmp.Diff(want, NewAt(dir).Times()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := os.WriteFile(filepath.Join(dir, "proc/diskstats"), []byte("8 x sda\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := NewAt(dir).Times(); got.Status != probes.Failed || !strings.HasPrefix(got.Reason, "reading /proc/diskstats: ") {
		t.Errorf("damaged: %+v", got)
	}
}

func TestParseDirty(t *testing.T) {
	tests := []struct {
		text string
		want probes.Reading[float64]
	}{
		{"nr_free_pages 5\nnr_dirty 250\nnr_dirty_threshold 1000\nnr_dirty_background_threshold 500\n", probes.Got(.25)},
		{"nr_dirty 250\n", probes.Unknown[float64](probes.Absent, "no nr_dirty_threshold in /proc/vmstat")},
		{"", probes.Unknown[float64](probes.Absent, "no nr_dirty in /proc/vmstat")},
		{"nr_dirty 250\nnr_dirty_threshold 0\n", probes.Unknown[float64](probes.Absent, "the kernel has no limit for what waits to be written")},
		{"nr_dirty x\nnr_dirty_threshold 9\n", probes.Unknown[float64](probes.Failed, `reading /proc/vmstat: "x" is not a number`)},
	}
	for _, tt := range tests {
		if got := probes.Read(parseDirty(tt.text)); got != tt.want {
			t.Errorf("%q: %+v, want %+v", tt.text, got, tt.want)
		}
	}
}

// The figures of diagnosis.md R47 and d.4.
func TestBusRates(t *testing.T) {
	for _, tt := range []struct {
		speed, width string
		want         float64 // bytes/s that a disk reaches
	}{{"8.0 GT/s PCIe", "4", 3.5e9}, {"16.0 GT/s PCIe", "4", 7e9}, {"32.0 GT/s PCIe", "4", 14e9}, {"2.5 GT/s", "1", .22e9}} {
		bps, ok := pcieRate(tt.speed, tt.width)
		if got := bps * pcieShare / 8; !ok || math.Abs(got-tt.want) > tt.want/50 {
			t.Errorf("%s x%s: %.3g bytes/s, %v, want %.3g", tt.speed, tt.width, got, ok, tt.want)
		}
	}
	for _, bad := range [][2]string{{"Unknown", "4"}, {"8.0 GT/s PCIe", "0"}, {"-1", "4"}, {"NaN GT/s", "4"}, {"", ""}, {"8.0 GT/s PCIe", "x"}} {
		if bps, ok := pcieRate(bad[0], bad[1]); ok {
			t.Errorf("%q x%q: %v", bad[0], bad[1], bps)
		}
	}
}

func FuzzRates(f *testing.F) {
	f.Add("8.0 GT/s PCIe", "4")
	f.Add("6.0 Gbps", "")
	f.Fuzz(func(t *testing.T, speed, width string) {
		if bps, ok := pcieRate(speed, width); ok && !(bps > 0 && bps < 1e15) {
			t.Fatalf("%q x%q gave %v", speed, width, bps)
		}
		if bps, err := parseSATA(speed); err == nil && !(bps > 0 && bps < 1e13) {
			t.Fatalf("%q gave %v", speed, bps)
		}
	})
}

func FuzzParseDirty(f *testing.F) {
	f.Add("nr_dirty 250\nnr_dirty_threshold 1000\n")
	f.Fuzz(func(t *testing.T, text string) {
		if share, err := parseDirty(text); err == nil && !(share >= 0 && !math.IsInf(share, 0)) {
			t.Fatalf("%q gave %v", text, share)
		}
	})
}

// Any list of mounts and any path end, whatever leads where.
func FuzzRead(f *testing.F) {
	text := string(shelf()["proc/self/mountinfo"].Data)
	f.Add(text, "/srv/x")
	f.Add("1 1 7:1 / / rw - overlay o upperdir=/\n", "/")
	f.Fuzz(func(t *testing.T, mounts, path string) {
		linux(t)
		root := shelf()
		root["proc/self/mountinfo"] = &fstest.MapFile{Data: []byte(mounts)}
		d := (&Reader{root: root}).Read(t.Context(), path)
		if d.Class.Known() == (d.Class.Why() != "") || d.LimitBps.Known() && !(d.LimitBps.Value > 0) {
			t.Fatalf("%q, %q gave %+v", mounts, path, d)
		}
	})
}

func BenchmarkTimesAndDirty(b *testing.B) {
	r := New()
	defer r.Close()
	b.ReportAllocs()
	for b.Loop() {
		r.Times()
		r.Dirty()
	}
}
