package memory

import (
	"encoding/binary"
	"io/fs"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"linerate/probes"
	"linerate/probes/internal/kfs"
)

// slot is one memory slot as a table describes it.
type slot struct {
	size         uint16 // MB
	kind         byte
	width        uint16
	speed, setUp uint16
	device, bank string
	length       int // of the formatted area; 0: 0x5c, SMBIOS 3.3
	far          uint32
}

// table is an SMBIOS table by hand: something that is no memory, the slots, the end.
func table(slots ...slot) []byte {
	out := structureOf(0, make([]byte, 20), "Vendor", "1.0")
	out = append(out, structureOf(16, make([]byte, 19))...)
	for _, s := range slots {
		if s.length == 0 {
			s.length = 0x5c
		}
		d := make([]byte, 0x60)
		put := binary.LittleEndian.PutUint16
		put(d[atWidth:], s.width)
		put(d[atSize:], s.size)
		d[atType] = s.kind
		strings := []string{"maker"}
		for at, text := range map[int]string{atDeviceLocator: s.device, atBankLocator: s.bank} {
			if text != "" { // there are no empty strings: their number is 0
				strings = append(strings, text)
				d[at] = byte(len(strings))
			}
		}
		put(d[atSpeed:], s.speed)
		put(d[atConfigured:], s.setUp)
		binary.LittleEndian.PutUint32(d[atExtendedConfig:], s.far)
		out = append(out, structureOf(memoryDevice, d[headerSize:s.length], strings...)...)
	}
	return append(out, structureOf(endOfTable, nil)...)
}

// structureOf puts a header before data and strings behind it.
func structureOf(kind byte, data []byte, strings ...string) []byte {
	out := append([]byte{kind, byte(headerSize + len(data)), 0x12, 0x34}, data...)
	for _, s := range strings {
		out = append(append(out, s...), 0)
	}
	if len(strings) == 0 {
		out = append(out, 0)
	}
	return append(out, 0)
}

const ddr4, ddr5, lpddr5, flash = 0x1a, 0x22, 0x23, 0x09

// module4 is a module of 64 bits that DDR4 at 3200 MT/s is set up to.
func module4(device, bank string) slot {
	return slot{size: 8192, kind: ddr4, width: 64, speed: 3200, setUp: 3200, device: device, bank: bank}
}

func with(s slot, edit func(*slot)) slot {
	edit(&s)
	return s
}

func linux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("read on Linux only, this is " + runtime.GOOS)
	}
}

func bandwidthOf(table []byte) probes.Reading[float64] {
	return probes.Read(Bandwidth(fstest.MapFS{tablePath: {Data: table}}))
}

func TestBandwidth(t *testing.T) {
	linux(t)
	const one4 = 3200e6 * 64 // bits/s: 25.6 GB/s
	a1, b1 := module4("ChannelA-DIMM0", "BANK 0"), module4("ChannelB-DIMM0", "BANK 2")
	plain := module4("DIMM 1", "Not Specified")
	for name, tt := range map[string]struct {
		slots []slot
		want  float64
	}{
		"two channels":                        {[]slot{a1, b1}, 2 * one4},
		"one module, three empty slots":       {[]slot{a1, {device: "ChannelA-DIMM1"}, {device: "ChannelB-DIMM0"}, {device: "ChannelB-DIMM1"}}, one4},
		"two modules on a channel":            {[]slot{a1, module4("ChannelA-DIMM1", "BANK 1")}, one4},
		"the slower of two sets the pace":     {[]slot{a1, with(module4("ChannelA-DIMM1", "BANK 1"), func(s *slot) { s.setUp = 2400 })}, 2400e6 * 64},
		"AMD names channels in the bank":      {[]slot{module4("DIMM 0", "P0 CHANNEL A"), module4("DIMM 1", "P0 CHANNEL A"), module4("DIMM 0", "P0 CHANNEL B")}, 2 * one4},
		"two processors":                      {[]slot{module4("DIMM 0", "P0 CHANNEL A"), module4("DIMM 0", "P1 CHANNEL A")}, 2 * one4},
		"two controllers":                     {[]slot{module4("Controller0-ChannelA-DIMM0", "BANK 0"), module4("Controller1-ChannelA-DIMM0", "BANK 0")}, 2 * one4},
		"no channel is named":                 {[]slot{plain, plain, plain}, 3 * one4},
		"set up slower than it can":           {[]slot{with(plain, func(s *slot) { s.speed, s.setUp = 4800, 2133 })}, 2133e6 * 64},
		"only the rated speed is told":        {[]slot{with(plain, func(s *slot) { s.setUp = 0 })}, one4},
		"too old for the speed as set up":     {[]slot{with(plain, func(s *slot) { s.length, s.setUp = 0x1b, 9 })}, one4},
		"faster than 16 bits can say":         {[]slot{with(plain, func(s *slot) { s.kind, s.setUp, s.far = ddr5, 0xffff, 70000 })}, 70000e6 * 64},
		"a size beyond 16 bits":               {[]slot{with(plain, func(s *slot) { s.size = 0x7fff })}, one4},
		"soldered":                            {[]slot{with(plain, func(s *slot) { s.kind, s.width, s.setUp = lpddr5, 32, 6400 })}, 6400e6 * 32},
		"the firmware's flash is no memory":   {[]slot{a1, {size: 16, kind: flash, width: 8, device: "SYSTEM ROM"}}, one4},
		"a size that is not told is a module": {[]slot{with(a1, func(s *slot) { s.size = 0xffff })}, one4},
	} {
		if r := bandwidthOf(table(tt.slots...)); r != probes.Got(tt.want) {
			t.Errorf("%s: got %+v, want %g", name, r, tt.want)
		}
	}
}

func TestBandwidthUnknown(t *testing.T) {
	linux(t)
	whole := table(module4("A", "B"))
	tests := map[string]struct {
		root   fs.FS
		status probes.Status
		why    string
	}{
		"no SMBIOS":          {fstest.MapFS{}, probes.Absent, "no SMBIOS table tells of the memory"},
		"not for this user":  {denied{}, probes.Denied, "only root may read what the firmware says of the memory"},
		"QEMU":               {file(table(slot{size: 4096, kind: 0x07, width: 0xffff, device: "DIMM 0"})), probes.Absent, "the firmware does not tell the speed of the memory"},
		"no width":           {file(table(with(module4("", ""), func(s *slot) { s.width = 0xffff }))), probes.Absent, "the firmware does not tell the width of the memory"},
		"no module":          {file(table()), probes.Absent, "the firmware tells of no memory module"},
		"empty":              {file(nil), probes.Absent, "the firmware tells of no memory module"},
		"cut in a structure": {file(whole[:60]), probes.Failed, "reading /" + tablePath + ": a structure is cut short"},
		"cut in a header":    {file(whole[:len(whole)-4]), probes.Failed, "reading /" + tablePath + ": a structure is cut short"},
		"cut in the strings": {file(append([]byte{0, 4, 0, 0}, "Vendor"...)), probes.Failed, "reading /" + tablePath + ": a structure is cut short"},
		"too short a length": {file([]byte{17, 3, 0, 0, 0, 0}), probes.Failed, "reading /" + tablePath + ": a structure of 3 bytes"},
		"too wide":           {file(table(with(module4("", ""), func(s *slot) { s.width = 4097 }))), probes.Failed, "reading /" + tablePath + ": a module of 4097 bits at 3200 MT/s"},
		"too fast":           {file(table(with(module4("", ""), func(s *slot) { s.setUp, s.far = 0xffff, 1<<31 }))), probes.Failed, "reading /" + tablePath + ": a module of 64 bits at 2147483648 MT/s"},
		"too large":          {file(make([]byte, maxTable+1)), probes.Failed, "reading /" + tablePath + ": larger than 1048576 bytes"},
	}
	for name, tt := range tests {
		r := probes.Read(Bandwidth(tt.root))
		if r.Status != tt.status || r.Reason != tt.why {
			t.Errorf("%s: got %v, %q, want %v, %q", name, r.Status, r.Reason, tt.status, tt.why)
		}
	}
	many := make([]slot, maxModules+1)
	for i := range many {
		many[i] = module4("", "")
	}
	if r := bandwidthOf(table(many...)); r.Status != probes.Failed || !strings.Contains(r.Reason, "more than 1024 memory modules") {
		t.Errorf("many modules: %+v", r)
	}
}

func file(content []byte) fs.FS { return fstest.MapFS{tablePath: {Data: content}} }

type denied struct{}

func (denied) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

// Known with a sensible figure, or unknown with a reason.
func TestBandwidthOfThisComputer(t *testing.T) {
	linux(t)
	r := probes.Read(Bandwidth(os.DirFS("/")))
	t.Logf("%+v", r)
	if r.Known() && (r.Value < 1e9 || r.Value > 1e15) || !r.Known() && (r.Reason == "" || r.Status == probes.Failed) {
		t.Errorf("got %+v", r)
	}
	if kfs.Exists(os.DirFS("/"), tablePath) == (r.Status == probes.Absent && strings.Contains(r.Reason, "no SMBIOS")) {
		t.Errorf("the table is there: %v, but %+v", !r.Known(), r)
	}
}

func FuzzBandwidth(f *testing.F) {
	f.Add(table(module4("ChannelA-DIMM0", "BANK 0"), slot{}))
	f.Add(table(with(module4("", ""), func(s *slot) { s.setUp, s.far = 0xffff, 9000 })))
	f.Add([]byte{17, 0x15, 0, 0})
	f.Fuzz(func(t *testing.T, content []byte) {
		modules, err := parse(content)
		if err != nil {
			return
		}
		for _, m := range modules {
			for _, r := range m.device + m.bank {
				if r < ' ' || r > '~' {
					t.Fatalf("a control character in %q, %q", m.device, m.bank)
				}
			}
		}
		if bps, err := bandwidth(modules); err == nil && (!(bps > 0) || math.IsInf(bps, 0)) {
			t.Errorf("got %g bit/s", bps)
		}
	})
}
