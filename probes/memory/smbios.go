package memory

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Structures of an SMBIOS table (DMTF DSP0134, chapters 6 and 7.18). Each has a header of
// type, length and handle, a formatted area up to that length, and strings that end with
// two zeros.
const (
	headerSize   = 4
	memoryDevice = 17  // type of a memory slot
	endOfTable   = 127 // likewise, of the last structure
)

// Offsets in a structure of type 17, and the lengths from which it has them.
const (
	atWidth          = 0x0a // data width, bits
	atSize           = 0x0c
	atDeviceLocator  = 0x10 // number of a string
	atBankLocator    = 0x11
	atType           = 0x12
	atSpeed          = 0x15 // highest, millions of transfers per second
	atConfigured     = 0x20 // as set up
	atExtendedSpeed  = 0x54 // where the 16 bits do not hold it
	atExtendedConfig = 0x58
)

// Limits on what can be true of a module: a stack of HBM has 1024 bits, and DDR5 goes at
// 9000 million transfers per second.
const (
	maxWidth     = 4096
	maxMegarate  = 100_000
	maxModules   = 1024
	unknownWord  = 0xffff // of a width, and of a speed: see the extended one
	emptySlot    = 0
	millionRates = 1e6
)

// module is the RAM in one slot.
type module struct {
	device, bank string  // where it is plugged in, in the board maker's words
	width        int     // of its data, bits; 0 not told
	rate         float64 // transfers per second as set up, or else at most; 0 not told
}

// parse gives the modules of RAM that a table lists.
func parse(table []byte) ([]module, error) {
	var modules []module
	for len(table) > 0 {
		s, rest, err := next(table)
		switch {
		case err != nil:
			return nil, err
		case s.kind == endOfTable:
			return modules, nil
		case s.kind == memoryDevice && s.populated():
			m, err := s.module()
			if err != nil {
				return nil, err
			}
			if modules = append(modules, m); len(modules) > maxModules {
				return nil, fmt.Errorf("more than %d memory modules", maxModules)
			}
		}
		table = rest
	}
	return modules, nil
}

// structure is one of a table.
type structure struct {
	kind byte
	data []byte // the formatted area with the header
	text []byte // strings, each ended by a zero
}

var errCut = errors.New("a structure is cut short")

// next takes the first structure off a table.
func next(table []byte) (s structure, rest []byte, err error) {
	if len(table) < headerSize {
		return s, nil, errCut
	}
	size := int(table[1])
	if size < headerSize {
		return s, nil, fmt.Errorf("a structure of %d bytes", size)
	}
	if size > len(table) {
		return s, nil, errCut
	}
	strings := table[size:]
	end := bytes.Index(strings, []byte{0, 0})
	if end < 0 {
		return s, nil, errCut
	}
	return structure{table[0], table[:size], strings[:end+1]}, strings[end+2:], nil
}

// byteAt, word and double read a field; 0 where the structure is too old to have it.
func (s structure) byteAt(at int) byte {
	if at >= len(s.data) {
		return 0
	}
	return s.data[at]
}

func (s structure) word(at int) uint16 {
	if at+2 > len(s.data) {
		return 0
	}
	return binary.LittleEndian.Uint16(s.data[at:])
}

func (s structure) double(at int) uint32 {
	if at+4 > len(s.data) {
		return 0
	}
	return binary.LittleEndian.Uint32(s.data[at:])
}

// words gives the string whose number stands at an offset, without anything but printable
// ASCII; "" where there is none.
func (s structure) words(at int) string {
	n, text := int(s.byteAt(at)), s.text
	for ; n > 1; n-- {
		_, after, more := bytes.Cut(text, []byte{0})
		if !more {
			return ""
		}
		text = after
	}
	if n == 0 {
		return ""
	}
	text, _, _ = bytes.Cut(text, []byte{0})
	return string(bytes.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, text))
}

// populated reports whether a slot has RAM in it. Some boards list the chip that their
// firmware is in, and persistent memory, as memory devices too.
func (s structure) populated() bool {
	switch s.byteAt(atType) {
	case 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x1f: // ROM, flash, EEPROM, FEPROM, EPROM, logical non-volatile
		return false
	}
	return s.word(atSize) != emptySlot
}

func (s structure) module() (module, error) {
	m := module{device: s.words(atDeviceLocator), bank: s.words(atBankLocator)}
	if w := s.word(atWidth); w != unknownWord {
		m.width = int(w)
	}
	mega := s.speed(atConfigured, atExtendedConfig)
	if mega == 0 {
		mega = s.speed(atSpeed, atExtendedSpeed)
	}
	if m.width > maxWidth || mega > maxMegarate {
		return m, fmt.Errorf("a module of %d bits at %d MT/s", m.width, mega)
	}
	m.rate = float64(mega) * millionRates
	return m, nil
}

// speed reads a rate in millions of transfers per second; 0 where it is not told.
func (s structure) speed(at, extended int) uint32 {
	if n := s.word(at); n != unknownWord {
		return uint32(n)
	}
	return s.double(extended)
}
