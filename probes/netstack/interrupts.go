package netstack

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"linerate/probes"
	"linerate/probes/internal/kfs"
)

// Queues reads the lines of /proc/interrupts that belong to a network interface: those
// with one of the numbers in irqs or, if there is none, those that name one of names. See
// nic.Interrupts.
//
// A queue's core is the one that most interrupts since the call before went to, for
// affinities change; where none came, where they went before. Cards have interrupts for
// changes of their state, which are no queues and hardly ever come: of a card with some that
// came, those that never did are left out. Of a card that has been silent so far, a queue's
// core is the one that the affinity leaves, -1 if it is not one.
//
// prometheus/procfs makes a string of every number and stops at 1 MiB, which a host with
// 256 cores and 500 interrupts exceeds.
func (r *Reader) Queues(irqs []int, names []string) probes.Reading[[]probes.QueueIRQ] {
	if err := kfs.LinuxOnly(); err != nil {
		return probes.Unread[[]probes.QueueIRQ](err)
	}
	text, err := r.interrupts.Read()
	if err != nil {
		return probes.Unread[[]probes.QueueIRQ](err)
	}
	cores, lines, err := parseInterrupts(text, irqs, names)
	switch {
	case err != nil:
		return probes.Unread[[]probes.QueueIRQ](kfs.Error(r.interrupts.Path(), err))
	case len(lines) == 0:
		return probes.Unknown[[]probes.QueueIRQ](probes.Absent, "no line of /proc/interrupts belongs to the interface")
	}
	now := make(map[int]served, len(lines))
	list := make([]probes.QueueIRQ, 0, len(lines))
	silent := !slices.ContainsFunc(lines, func(l interrupt) bool { return sum(l.counts) > 0 })
	for _, l := range lines {
		n := sum(l.counts)
		if n == 0 && !silent {
			continue
		}
		s := served{counts: l.counts, core: r.core(l, cores)}
		now[l.irq] = s
		list = append(list, probes.QueueIRQ{IRQ: l.irq, Name: l.name, Core: s.core, Count: n})
	}
	r.served = now
	return probes.Got(list)
}

// served is what was last seen of an interrupt.
type served struct {
	counts []uint64 // by online core
	core   int
}

func (r *Reader) core(l interrupt, cores []int) int {
	before, seen := r.served[l.irq]
	since := slices.Clone(l.counts)
	// After a reset of the card, or with a core more or less, the sums are all there is.
	if seen && len(before.counts) == len(since) && sum(before.counts) <= sum(since) {
		for i := range since {
			since[i] -= min(since[i], before.counts[i])
		}
		if sum(since) == 0 && before.core >= 0 {
			return before.core
		}
	}
	if sum(since) == 0 {
		return r.affinity(l.irq)
	}
	return cores[slices.Index(since, slices.Max(since))]
}

// affinity is the core that an interrupt may go to, -1 when there are several or it is
// not known.
func (r *Reader) affinity(irq int) int {
	for _, file := range []string{"effective_affinity_list", "smp_affinity_list"} {
		text, err := kfs.Text(r.root, fmt.Sprintf("proc/irq/%d/%s", irq, file))
		if err != nil {
			continue
		}
		if list, err := kfs.List(text); err == nil && len(list) == 1 {
			return list[0]
		}
	}
	return -1
}

func sum(counts []uint64) (n uint64) {
	for _, c := range counts {
		n += c
	}
	return n
}

// interrupt is one line of /proc/interrupts.
type interrupt struct {
	irq    int
	counts []uint64 // by online core
	name   string   // the last column: who asked for the interrupt
}

var errInterrupts = errors.New("not the text of /proc/interrupts")

// parseInterrupts gives the numbers of the online cores and the lines that are wanted;
// see Queues. The others are passed over without a look at their counts, of which a large
// host has a hundred thousand.
func parseInterrupts(text []byte, irqs []int, names []string) (cores []int, lines []interrupt, err error) {
	header, text := line(text)
	for {
		var word []byte
		word, header = field(header)
		if len(word) == 0 {
			break
		}
		n, ok := number(bytes.TrimPrefix(word, []byte("CPU")))
		if !ok || n > maxCore {
			return nil, nil, errInterrupts
		}
		cores = append(cores, int(n))
	}
	if len(cores) == 0 {
		return nil, nil, errInterrupts
	}
	for len(text) > 0 {
		var l []byte
		l, text = line(text)
		label, rest, ok := bytes.Cut(l, []byte(":"))
		irq, isNumber := number(bytes.TrimLeft(label, " "))
		if !ok || !isNumber || irq > maxIRQ { // NMI, LOC …
			continue
		}
		if len(irqs) > 0 && !slices.Contains(irqs, int(irq)) {
			continue
		}
		action := lastColumn(rest)
		if len(irqs) == 0 && !namesOne(action, names) {
			continue
		}
		counts, err := parseCounts(rest, len(cores))
		if err != nil {
			return nil, nil, fmt.Errorf("interrupt %d: %w", irq, err)
		}
		lines = append(lines, interrupt{int(irq), counts, string(action)})
	}
	return cores, lines, nil
}

const maxCore, maxIRQ = 1 << 16, 1 << 24

func parseCounts(text []byte, cores int) ([]uint64, error) {
	counts := make([]uint64, cores)
	for i := range counts {
		var word []byte
		word, text = field(text)
		n, ok := number(word)
		if !ok {
			return nil, fmt.Errorf("%d counts for %d cores: %w", i, cores, errInterrupts)
		}
		counts[i] = n
	}
	return counts, nil
}

// lastColumn is what follows the last gap of two spaces. The columns before it are the
// counts, the controller, the number within it, and on some machines the trigger.
func lastColumn(text []byte) []byte {
	text = bytes.TrimRight(text, " ")
	if i := bytes.LastIndex(text, []byte("  ")); i >= 0 {
		return text[i+2:]
	}
	return bytes.TrimLeft(text, " ")
}

// namesOne tells whether one of names is a word of text: "eth0" is one of "i40e-eth0-TxRx-3",
// not of "eth01".
func namesOne(text []byte, names []string) bool {
	for _, name := range names {
		for start := 0; name != ""; {
			i := bytes.Index(text[start:], []byte(name))
			if i < 0 {
				break
			}
			i += start
			end := i + len(name)
			if (i == 0 || !alphanumeric(text[i-1])) && (end == len(text) || !alphanumeric(text[end])) {
				return true
			}
			start = i + 1
		}
	}
	return false
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
