package netstack

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/probes"
)

// The lines of four machines, in the columns of their kernels; the others left out.
const (
	// Raspberry Pi 4, Linux 6.1: one line per direction, controller and trigger named.
	pi4 = `           CPU0       CPU1       CPU2       CPU3       
 18:      90631      78123      80001      77512     GICv2  30 Level     arch_timer
 39:    8812345          0          0          0     GICv2 189 Level     eth0
 40:     912345          0          0          0     GICv2 190 Level     eth0
 41:        512          0          0          0     GICv2 114 Level     eth01, mailbox
IPI0:      4711        812        900        801       Rescheduling interrupts
ERR:          0
`
	// Four queues of an X710 on a server with 4 cores, Linux 5.15.
	server = `            CPU0       CPU1       CPU2       CPU3
   8:          0          0          0          1  IR-IO-APIC    8-edge      rtc0
 130:        101          0          0          7  IR-PCI-MSI 524288-edge      i40e-0000:01:00.0:misc
 131:     500000          3          0          0  IR-PCI-MSI 524289-edge      i40e-enp1s0f0-TxRx-0
 132:          0      40000      10000          0  IR-PCI-MSI 524290-edge      i40e-enp1s0f0-TxRx-1
 133:          0          0          0          0  IR-PCI-MSI 524291-edge      i40e-enp1s0f0-TxRx-2
 140:          9          9          9          9  IR-PCI-MSI 526337-edge      i40e-enp1s0f01-TxRx-0
 NMI:         12         12         12         12   Non-maskable interrupts
`
	// A shared pin with three users, cores 1 and 3 offline.
	shared = `           CPU0       CPU2
 16:         10       2000   IO-APIC  16-fasteoi   ehci_hcd:usb1, eth0, nvidia
`
)

func TestParseInterrupts(t *testing.T) {
	tests := []struct {
		name, text string
		irqs       []int
		names      []string
		cores      []int
		want       []interrupt
	}{
		{"by name", pi4, nil, []string{"eth0"}, []int{0, 1, 2, 3}, []interrupt{
			{39, []uint64{8812345, 0, 0, 0}, "eth0"}, {40, []uint64{912345, 0, 0, 0}, "eth0"},
		}},
		{"by number", server, []int{130, 131, 132, 133, 999}, []string{"enp1s0f0"}, []int{0, 1, 2, 3}, []interrupt{
			{130, []uint64{101, 0, 0, 7}, "i40e-0000:01:00.0:misc"},
			{131, []uint64{500000, 3, 0, 0}, "i40e-enp1s0f0-TxRx-0"},
			{132, []uint64{0, 40000, 10000, 0}, "i40e-enp1s0f0-TxRx-1"},
			{133, []uint64{0, 0, 0, 0}, "i40e-enp1s0f0-TxRx-2"},
		}},
		{"by the name within", server, nil, []string{"enp1s0f01", ""}, []int{0, 1, 2, 3}, []interrupt{
			{140, []uint64{9, 9, 9, 9}, "i40e-enp1s0f01-TxRx-0"},
		}},
		{"shared", shared, nil, []string{"eth0"}, []int{0, 2}, []interrupt{{16, []uint64{10, 2000}, "ehci_hcd:usb1, eth0, nvidia"}}},
		{"of nobody", server, nil, []string{"eth0"}, []int{0, 1, 2, 3}, nil},
	}
	for _, tt := range tests {
		cores, got, err := parseInterrupts([]byte(tt.text), tt.irqs, tt.names)
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(interrupt{})); diff != "" || err != nil || !slices.Equal(cores, tt.cores) {
			t.Errorf("%s: cores %v, %v (-want +got):\n%s", tt.name, cores, err, diff)
		}
	}
	for _, bad := range []string{"", "\n", "CPU0 CPUx\n", "CPU0 CPU1\n 5:  1\n", "CPU0\n 5:  x  a  eth0\n", "CPU99999999999\n"} {
		if cores, got, err := parseInterrupts([]byte(bad), []int{5}, nil); err == nil {
			t.Errorf("%q gave %v, %v", bad, cores, got)
		}
	}
}

func TestNamesOne(t *testing.T) {
	for text, want := range map[string]bool{
		"eth0": true, "eth0-TxRx-0": true, "i40e-eth0-TxRx-3": true, "ehci_hcd:usb1, eth0": true, "mlx5_comp0@pci:eth0": true,
		"eth01": false, "veth0": false, "eth": false, "": false, "eth01, eth0": true,
	} {
		if got := namesOne([]byte(text), []string{"nothing", "eth0"}); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestQueuesOfVirtualMachine(t *testing.T) {
	linux(t)
	r := NewAt(vm)
	// The vectors of 0000:00:03.0, which is eth0. A third one, 37, is for changes of the
	// device and was never used.
	want := probes.Got([]probes.QueueIRQ{
		{IRQ: 38, Name: "virtio2-input.0", Core: 1, Count: 16551},
		{IRQ: 39, Name: "virtio2-output.0", Core: 0, Count: 19256},
	})
	if diff := cmp.Diff(want, r.Queues([]int{37, 38, 39}, []string{"eth0", "virtio2"})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(want, r.Queues(nil, []string{"eth0", "virtio2"})); diff != "" {
		t.Errorf("by name (-want +got):\n%s", diff)
	}
	if q := r.Queues([]int{99}, nil); q.Status != probes.Absent {
		t.Errorf("of nobody: %+v", q)
	}
}

// The core is where interrupts go now, whatever the sums since boot say.
func TestQueueMoves(t *testing.T) {
	dir := tree(t, map[string]string{
		"irq/7/effective_affinity_list": "3\n", "irq/8/effective_affinity_list": "\n", "irq/8/smp_affinity_list": "0-1\n", "irq/9/smp_affinity_list": "2\n",
	})
	r := NewAt(dir)
	const out = -2 // left out
	for _, step := range []struct {
		name   string
		counts [3]string // of IRQ 7, 8 and 9
		want   [3]int
	}{
		{"nothing yet: the affinity", [3]string{"0 0 0 0", "0 0 0 0", "0 0 0 0"}, [3]int{3, -1, 2}},
		{"the first ones, and none of the third", [3]string{"900 0 0 10", "0 5 0 0", "0 0 0 0"}, [3]int{0, 1, out}},
		{"moved", [3]string{"901 0 50 10", "0 5 0 0", "0 0 0 1"}, [3]int{2, 1, 3}},
		{"silent: as before", [3]string{"901 0 50 10", "0 5 0 0", "0 0 0 1"}, [3]int{2, 1, 3}},
		{"the card was reset", [3]string{"0 8 0 0", "0 0 0 0", "0 0 0 2"}, [3]int{1, out, 3}},
		{"and its first ones", [3]string{"0 8 0 9", "6 0 0 0", "0 0 0 2"}, [3]int{3, 0, 3}},
	} {
		text := "   CPU0 CPU1 CPU2 CPU3\n"
		for i, c := range step.counts {
			text += fmt.Sprintf(" %d: %s  PCI-MSI  1-edge      eth0-%d\n", 7+i, c, i)
		}
		write(t, filepath.Join(dir, "proc/interrupts"), text)
		cores := [3]int{out, out, out}
		for _, q := range r.Queues([]int{7, 8, 9}, nil).Value {
			cores[q.IRQ-7] = q.Core
		}
		if cores != step.want {
			t.Errorf("%s: on cores %v, want %v", step.name, cores, step.want)
		}
	}
}

func FuzzParseInterrupts(f *testing.F) {
	for _, text := range []string{pi4, server, shared} {
		f.Add(text, 131, "eth0")
	}
	f.Fuzz(func(t *testing.T, text string, irq int, name string) {
		for _, irqs := range [][]int{nil, {irq}} {
			cores, lines, err := parseInterrupts([]byte(text), irqs, []string{name})
			if err != nil {
				continue
			}
			for _, l := range lines {
				if len(l.counts) != len(cores) || strings.ContainsRune(l.name, '\n') || irqs != nil && l.irq != irq {
					t.Fatalf("%q gave %+v for %d cores", text, l, len(cores))
				}
			}
		}
	})
}

// large is /proc/interrupts of a host with 256 cores and 500 interrupts, of which 64 are
// queues of the network card.
func large() []byte {
	var b strings.Builder
	b.WriteString("     ")
	for c := range 256 {
		fmt.Fprintf(&b, "%11s", fmt.Sprintf("CPU%d", c))
	}
	b.WriteString("\n")
	for i := range 500 {
		fmt.Fprintf(&b, "%4d:", i)
		for c := range 256 {
			n := 0
			if c == i%256 {
				n = 123456789
			}
			fmt.Fprintf(&b, " %10d", n)
		}
		name := fmt.Sprintf("nvme0q%d", i)
		if i >= 200 && i < 264 {
			name = fmt.Sprintf("mlx5_comp%d@pci:0000:41:00.0", i-200)
		}
		fmt.Fprintf(&b, "  IR-PCI-MSIX-0000:41:00.0 %4d-edge      %s\n", i, name)
	}
	return []byte(b.String())
}

func BenchmarkParseInterrupts256x500(b *testing.B) {
	text := large()
	irqs := make([]int, 64)
	for i := range irqs {
		irqs[i] = 200 + i
	}
	for _, bb := range []struct {
		name  string
		irqs  []int
		names []string
	}{{"by number", irqs, nil}, {"by name", nil, []string{"0000:41:00.0"}}} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				_, lines, err := parseInterrupts(text, bb.irqs, bb.names)
				if err != nil || len(lines) != 64 {
					b.Fatal(len(lines), err)
				}
			}
		})
	}
}

func BenchmarkQueues(b *testing.B) {
	r := New()
	defer r.Close()
	b.ReportAllocs()
	for b.Loop() {
		r.Queues([]int{37, 38, 39}, nil)
	}
}
