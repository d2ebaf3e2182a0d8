package unit

// System is how rates are written.
type System uint8

const (
	BitsSI  System = iota // "9.41 Gbit/s": bits in steps of 1000, as links are sold
	BytesSI               // "1.18 GB/s": bytes in steps of 1000
	Binary                // "1.10 GiB/s": bytes in steps of 1024
)

// Next gives the system after u, the first after the last: what a key cycles through.
func (u System) Next() System { return (u + 1) % (Binary + 1) }

func (u System) String() string {
	switch u {
	case BytesSI:
		return "bytes/s"
	case Binary:
		return "bytes/s, binary"
	}
	return "bits/s"
}

// Rate prints bits per second: "9.41 Gbit/s", "812 kbit/s", "0 bit/s".
func Rate(bps float64) string { return bitsSI.string(bps) }

// RateIn prints bits per second in the system u.
func RateIn(bps float64, u System) string {
	switch u {
	case BytesSI:
		return perSecSI.string(bps / 8)
	case Binary:
		return perSec.string(bps / 8)
	}
	return bitsSI.string(bps)
}

// Bytes prints a number of bytes in steps of 1000: "1.50 GB".
func Bytes(n uint64) string { return bytesSI.string(float64(n)) }

// BytesIEC prints a number of bytes in steps of 1024: "1.40 GiB".
func BytesIEC(n uint64) string { return bytesIEC.string(float64(n)) }
