package memory

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"

	"linerate/probes"
	"linerate/probes/internal/kfs"
)

const (
	tablePath = "sys/firmware/dmi/tables/DMI"
	// maxTable bounds the table: servers with 64 modules have some 20 KB.
	maxTable = 1 << 20
)

// Bandwidth gives the peak bandwidth of the RAM in bits per second: over all channels that
// have a module, the rate of transfers at which it is set up times the width of its data.
// root holds sys.
//
// SMBIOS does not number channels. Modules whose place names a channel ("ChannelA-DIMM0",
// "P0 CHANNEL A") share it with those of the same name, and go at the rate of the slowest;
// every other module is taken to have a channel of its own. Where it does share one, the
// figure is too high, never too low. Both sockets of a computer with two count.
func Bandwidth(root fs.FS) (bps float64, err error) {
	if err := kfs.LinuxOnly(); err != nil {
		return 0, err
	}
	table, err := readTable(root)
	if err != nil {
		return 0, err
	}
	modules, err := parse(table)
	if err != nil {
		return 0, fmt.Errorf("reading /%s: %w", tablePath, err)
	}
	return bandwidth(modules)
}

func readTable(root fs.FS) ([]byte, error) {
	f, err := root.Open(tablePath)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, absent("no SMBIOS table tells of the memory")
	case errors.Is(err, fs.ErrPermission):
		return nil, probes.Missing{Status: probes.Denied, Reason: "only root may read what the firmware says of the memory"}
	case err != nil:
		return nil, kfs.Error(tablePath, err)
	}
	defer f.Close()
	table, err := io.ReadAll(io.LimitReader(f, maxTable+1))
	if err == nil && len(table) > maxTable {
		err = fmt.Errorf("larger than %d bytes", maxTable)
	}
	if err != nil {
		return nil, kfs.Error(tablePath, err)
	}
	return table, nil
}

func absent(reason string) error {
	return probes.Missing{Status: probes.Absent, Reason: reason}
}

// channel is what the modules on one channel agree on.
type channel struct {
	rate  float64 // transfers per second
	width int     // bits
}

func bandwidth(modules []module) (bps float64, err error) {
	channels := map[string]channel{}
	for i, m := range modules {
		switch {
		case m.rate == 0:
			return 0, absent("the firmware does not tell the speed of the memory")
		case m.width == 0:
			return 0, absent("the firmware does not tell the width of the memory")
		}
		name := m.channel()
		if name == "" {
			name = fmt.Sprintf("module %d", i)
		}
		c, shared := channels[name]
		if !shared || m.rate < c.rate {
			c.rate = m.rate
		}
		c.width = max(c.width, m.width)
		channels[name] = c
	}
	if len(channels) == 0 {
		return 0, absent("the firmware tells of no memory module")
	}
	for _, c := range channels {
		bps += c.rate * float64(c.width)
	}
	return bps, nil
}

var channelName = regexp.MustCompile(`(?i)^.*channel[ _-]?[a-z0-9]+`)

// channel is the name of the module's channel, with what stands before it (a controller,
// a processor); "" where its place names none.
func (m module) channel() string {
	for _, place := range []string{m.device, m.bank} {
		if name := channelName.FindString(place); name != "" {
			return name
		}
	}
	return ""
}
