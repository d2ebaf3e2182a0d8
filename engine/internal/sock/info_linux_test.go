//go:build linux

package sock

import (
	"encoding/binary"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"linerate/engine"
)

// x/sys has the struct from the kernel's header: an independent layout, on whatever
// machine the test runs.
func TestDecodeInfoAgainstHeader(t *testing.T) {
	var k unix.TCPInfo
	raw := unsafe.Slice((*byte)(unsafe.Pointer(&k)), unsafe.Sizeof(k))[:infoSize]
	for i := range raw {
		raw[i] = byte(i*7 + 3)
	}
	us := func(v uint64) time.Duration { return time.Duration(v) * time.Microsecond }
	ms := func(v uint32) time.Duration { return time.Duration(v) * time.Millisecond }
	want := engine.TCPInfo{
		Size: infoSize, State: k.State, CAState: k.Ca_state, Retransmits: k.Retransmits,
		Probes: k.Probes, Backoff: k.Backoff, Options: k.Options,
		RTO: us(uint64(k.Rto)), ATO: us(uint64(k.Ato)), SndMSS: k.Snd_mss, RcvMSS: k.Rcv_mss,
		Unacked: k.Unacked, Sacked: k.Sacked, Lost: k.Lost, Retrans: k.Retrans,
		LastDataSent: ms(k.Last_data_sent), LastDataRecv: ms(k.Last_data_recv), LastAckRecv: ms(k.Last_ack_recv),
		PMTU: k.Pmtu, RcvSSThresh: k.Rcv_ssthresh, RTT: us(uint64(k.Rtt)), RTTVar: us(uint64(k.Rttvar)),
		SndSSThresh: k.Snd_ssthresh, SndCwnd: k.Snd_cwnd, AdvMSS: k.Advmss, Reordering: k.Reordering,
		RcvRTT: us(uint64(k.Rcv_rtt)), RcvSpace: k.Rcv_space, TotalRetrans: k.Total_retrans,
		PacingRate: k.Pacing_rate, MaxPacingRate: k.Max_pacing_rate,
		BytesAcked: k.Bytes_acked, BytesReceived: k.Bytes_received, SegsOut: k.Segs_out, SegsIn: k.Segs_in,
		NotSentBytes: k.Notsent_bytes, MinRTT: us(uint64(k.Min_rtt)),
		DataSegsIn: k.Data_segs_in, DataSegsOut: k.Data_segs_out, DeliveryRate: k.Delivery_rate,
		BusyTime: us(k.Busy_time), RwndLimited: us(k.Rwnd_limited), SndbufLimited: us(k.Sndbuf_limited),
		Delivered: k.Delivered, DeliveredCE: k.Delivered_ce, BytesSent: k.Bytes_sent, BytesRetrans: k.Bytes_retrans,
		DSACKDups: k.Dsack_dups, ReordSeen: k.Reord_seen, RcvOOOPack: k.Rcv_ooopack, SndWnd: k.Snd_wnd,
		RcvWnd: k.Rcv_wnd, Rehash: k.Rehash, TotalRTO: k.Total_rto,
		TotalRTORecoveries: k.Total_rto_recoveries, TotalRTOTime: ms(k.Total_rto_time),
	}
	got := decodeInfo(raw, binary.NativeEndian)
	// The header's bit fields have no names in Go; TestDecodeInfoBigEndian checks them.
	got.SndWScale, got.RcvWScale, got.AppLimited = 0, 0, false
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("against struct tcp_info (-want +got):\n%s", diff)
	}
}

// Both ends of one connection, read from the running kernel, agree with what was sent.
func TestInfoLive(t *testing.T) {
	const goal = 10_000_000
	s := &stream{pair: newPair(t, Options{})}
	cfg := sendConfig()
	cfg.Budget = NewBudget(goal)
	cfg.Budget.Start()
	startRecv(s, recvConfig())
	startSend(s, cfg)
	s.sending.Wait()
	waitFor(t, "all has arrived", func() bool { return s.received.Bytes() == goal })
	tx, err := s.tx.Info()
	if err != nil {
		t.Fatal(err)
	}
	rx, err := s.rx.Info()
	if err != nil {
		t.Fatal(err)
	}
	if tx.Has(engine.InfoBytesAcked) {
		// bytes_acked counts the SYN as one.
		if acked := tx.BytesAcked - 1; acked > goal || rx.BytesReceived != goal {
			t.Errorf("acked %d, received %d, want up to %d and %d", acked, rx.BytesReceived, goal, goal)
		}
	}
	if mss, err := s.tx.MSS(); err != nil || uint32(mss) != tx.SndMSS {
		t.Errorf("TCP_MAXSEG %d (%v), snd_mss %d: want the same", mss, err, tx.SndMSS)
	}
	if tx.CwndBytes() == 0 || tx.State != 1 {
		t.Errorf("cwnd %d, state %d: want a window and state 1", tx.CwndBytes(), tx.State)
	}
}
