package iperf

import (
	"math"
	"time"

	"linerate/engine"
)

// infoFields lists what of TCP_INFO travels in the side channel, in the order of
// wire.PROTOCOL.md: a new field goes to the end.
func infoFields(t *engine.TCPInfo) []any {
	return []any{
		&t.Size, &t.State, &t.CAState, &t.Retransmits, &t.Probes, &t.Backoff, &t.Options, &t.SndWScale, &t.RcvWScale, &t.AppLimited,
		&t.RTO, &t.ATO, &t.SndMSS, &t.RcvMSS, &t.Unacked, &t.Sacked, &t.Lost, &t.Retrans, &t.LastDataSent, &t.LastDataRecv,
		&t.LastAckRecv, &t.PMTU, &t.RcvSSThresh, &t.RTT, &t.RTTVar, &t.SndSSThresh, &t.SndCwnd, &t.AdvMSS, &t.Reordering, &t.RcvRTT,
		&t.RcvSpace, &t.TotalRetrans, &t.PacingRate, &t.MaxPacingRate, &t.BytesAcked, &t.BytesReceived, &t.SegsOut, &t.SegsIn, &t.NotSentBytes, &t.MinRTT,
		&t.DataSegsIn, &t.DataSegsOut, &t.DeliveryRate, &t.BusyTime, &t.RwndLimited, &t.SndbufLimited, &t.Delivered, &t.DeliveredCE, &t.BytesSent, &t.BytesRetrans,
		&t.DSACKDups, &t.ReordSeen, &t.RcvOOOPack, &t.SndWnd, &t.RcvWnd, &t.Rehash, &t.TotalRTO, &t.TotalRTORecoveries, &t.TotalRTOTime,
	}
}

// memFields is the same for SO_MEMINFO.
func memFields(m *engine.SockMem) []any {
	return []any{&m.RmemAlloc, &m.RcvBuf, &m.WmemAlloc, &m.SndBuf, &m.Queued, &m.Backlog, &m.Drops}
}

// toNumbers gives the fields as they travel: times in µs, yes as 1, zeros at the end left
// out.
func toNumbers(fields []any) []uint64 {
	list := make([]uint64, len(fields))
	last := 0
	for i, f := range fields {
		switch f := f.(type) {
		case *bool:
			if *f {
				list[i] = 1
			}
		case *uint8:
			list[i] = uint64(*f)
		case *uint16:
			list[i] = uint64(*f)
		case *uint32:
			list[i] = uint64(*f)
		case *uint64:
			list[i] = *f
		case *int:
			list[i] = uint64(max(0, *f))
		case *time.Duration:
			list[i] = uint64(max(0, f.Microseconds()))
		}
		if list[i] != 0 {
			last = i + 1
		}
	}
	return list[:last]
}

// fromNumbers sets the fields to what has travelled and reports whether all of it fits.
// Numbers beyond the last field are a later version's.
func fromNumbers(fields []any, list []uint64) bool {
	fits := true
	for i, n := range list[:min(len(list), len(fields))] {
		var most uint64
		switch f := fields[i].(type) {
		case *bool:
			most, *f = 1, n == 1
		case *uint8:
			most, *f = math.MaxUint8, uint8(n)
		case *uint16:
			most, *f = math.MaxUint16, uint16(n)
		case *uint32:
			most, *f = math.MaxUint32, uint32(n)
		case *uint64:
			most, *f = math.MaxUint64, n
		case *int:
			most, *f = math.MaxInt16, int(n)
		case *time.Duration:
			most = math.MaxInt64 / uint64(time.Microsecond)
			*f = time.Duration(min(n, most)) * time.Microsecond
		}
		fits = fits && n <= most
	}
	return fits
}
