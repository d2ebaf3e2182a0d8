package hosttest

import "encoding/binary"

// Module is a memory module of 8 GB.
type Module struct {
	Place    string // "ChannelA-DIMM0"
	MegaRate int    // millions of transfers per second, as set up; 0: not told, as in virtual machines
	Width    int    // bits of data
}

// writeMemory lays out an SMBIOS table of structures of type 17, as version 2.7 has them,
// and the end.
func (h *Host) writeMemory() {
	if len(h.machine.Memory) == 0 {
		return
	}
	const length, ddr4 = 0x22, 0x1a
	var table []byte
	for _, m := range h.machine.Memory {
		s := make([]byte, length)
		s[0], s[1] = 17, length
		put := binary.LittleEndian.PutUint16
		put(s[0x0a:], uint16(m.Width))
		put(s[0x0c:], 8192)
		s[0x10], s[0x12] = 1, ddr4
		put(s[0x15:], uint16(m.MegaRate))
		put(s[0x20:], uint16(m.MegaRate))
		table = append(append(append(table, s...), m.Place...), 0, 0)
	}
	h.write("sys/firmware/dmi/tables/DMI", string(append(table, 127, 4, 0, 0, 0, 0)))
}
