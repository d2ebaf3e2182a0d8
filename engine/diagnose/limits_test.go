package diagnose

import (
	"time"

	"linerate/engine"
	"linerate/probes"
)

const ms = time.Millisecond

// smallWindow is a receiver whose buffer of 512 KiB holds 64 Mbit/s over 40 ms.
func smallWindow(edits ...func(*Evidence)) Evidence {
	all := []func(*Evidence){quietFar, rateOf(up, 64.1e6), sender(up, windows(wide(40*ms, 40*ms), limitedBy(.449, 0), peerWindow(326272), by(bbr))),
		receiver(up, buffers(engine.SockMem{RcvBuf: 524288})), setting(farEnd, "net.ipv4.tcp_rmem", "4096 131072 524288")}
	return base(append(all, edits...)...)
}

func peerWindow(bytes uint32) func(*StreamWindow) {
	return func(w *StreamWindow) { w.Now.SndWnd, w.Now.Options = bytes, 7 }
}

// smallSendBuffer is a sender with 4 MiB over 107 ms.
func smallSendBuffer(edits ...func(*Evidence)) Evidence {
	all := []func(*Evidence){quietFar, rateOf(up, 306e6), sender(up, windows(wide(100*ms, 107*ms), limitedBy(0, .377), peerWindow(20970496), buffers(engine.SockMem{SndBuf: 4194304}))),
		setting(local, "net.ipv4.tcp_wmem", "4096 16384 4194304")}
	return base(append(all, edits...)...)
}

// again changes the sender's window that is there.
func again(dir engine.Direction, edits ...func(*StreamWindow)) func(*Evidence) {
	return func(e *Evidence) {
		w := e.Flows[dir].Sender.Value[0]
		for _, edit := range edits {
			edit(&w)
		}
		e.Flows[dir].Sender = probes.Got([]StreamWindow{w})
	}
}

func resting(app, busy float64, unsent uint32) func(*StreamWindow) {
	return func(w *StreamWindow) {
		w.AppLimited = probes.Got(app)
		w.Now.BusyTime = w.Before.BusyTime + time.Duration(busy*float64(w.Span))
		w.Now.NotSentBytes = unsent
	}
}

func shut(share float64) func(*StreamWindow) {
	return func(w *StreamWindow) { w.ZeroWindow = probes.Got(share) }
}

func ownWindow(bytes int) func(*Evidence) {
	return func(e *Evidence) { e.Test.Spec.Window = bytes }
}

func blindSender(e *Evidence) {
	e.Flows[up].Sender = probes.Unknown[[]StreamWindow](probes.Unsupported, "no TCP_INFO here")
}

func limitRows() []row {
	young := func(e *Evidence) { e.Test.Age = 3900 * ms }
	return []row{
		{ReceiveWindow, "326 kB over 40 ms", smallWindow(), up, Holds, "The far receive window limits: 326 kB / 40.0 ms = 65.3 Mbit/s. Raise tcp_rmem at the far end."},
		{ReceiveWindow, "fR .25", smallWindow(again(up, limitedBy(.25, 0))), up, Holds, ""},
		{ReceiveWindow, "fR .24", smallWindow(again(up, limitedBy(.24, 0))), up, RuledOut, "24 %"},
		{ReceiveWindow, "window allows 16 % more", smallWindow(rateOf(up, 56e6)), up, RuledOut, "would allow"},
		{ReceiveWindow, "a late reader", smallWindow(receiver(up, buffers(engine.SockMem{RmemAlloc: 110000, RcvBuf: 524288}))), up, RuledOut, "its reader is late"},
		{ReceiveWindow, "buffer still grows", smallWindow(setting(farEnd, "net.ipv4.tcp_rmem", "4096 131072 33554432"), func(e *Evidence) {
			e.Flows[up].Receiver.Value[0].MemBefore = probes.Got(engine.SockMem{RcvBuf: 262144})
		}), up, RuledOut, "still grows"},
		{ReceiveWindow, "a queue inflates the round trip", smallWindow(again(up, wide(20*ms, 40*ms))), up, RuledOut, "a queue stands"},
		{ReceiveWindow, "receiver's core is full", smallWindow(cores(farEnd, .1, .97), thread(farEnd, "lr-rx-1", up, 1, .9)), up, RuledOut, "CPU first"},
		{ReceiveWindow, "fixed by -w", smallWindow(ownWindow(262144)), up, RuledOut, "-w"},
		{ReceiveWindow, "far buffers not visible", smallWindow(func(e *Evidence) {
			e.Flows[up].Receiver = probes.Unknown[[]StreamWindow](probes.Absent, "stock iperf3")
		}), up, Holds, "(far end not visible)"},
		{ReceiveWindow, "TCP_INFO unknown", smallWindow(blindSender), up, Unseen, "no TCP_INFO here"},
		{ReceiveWindow, "far sender", base(direction(down)), down, Unseen, "far end not visible"},
		{ReceiveWindow, "kernel too old", smallWindow(again(up, func(w *StreamWindow) { w.Info = probes.Got(168) })), up, Unseen, "too short"},
		{ReceiveWindow, "young", smallWindow(young), up, Unseen, "younger than 4 s"},

		{LateReader, "buffer 99 % full", smallWindow(again(up, limitedBy(.905, 0)), receiver(up, buffers(engine.SockMem{RmemAlloc: 11.74e6, RcvBuf: 11.88e6}))), up, Holds, "The far receiver is not reading fast enough (its buffer is 99 % full)"},
		{LateReader, "buffer 49 % full", smallWindow(again(up, limitedBy(.905, 0), shut(0)), receiver(up, buffers(engine.SockMem{RmemAlloc: 49, RcvBuf: 100}))), up, RuledOut, "reads in time"},
		{LateReader, "fR .49", smallWindow(again(up, limitedBy(.49, 0), shut(0)), receiver(up, buffers(engine.SockMem{RmemAlloc: 99, RcvBuf: 100}))), up, RuledOut, ""},
		{LateReader, "closes its window 5 times a second", smallWindow(tcp(farEnd, probes.Counters{"TcpExt.TCPToZeroWindowAdv": 20})), up, Holds, "5 times a second"},
		{LateReader, "4.75 times", smallWindow(tcp(farEnd, probes.Counters{"TcpExt.TCPToZeroWindowAdv": 19}), again(up, shut(0))), up, RuledOut, ""},
		{LateReader, "a closed window was seen", smallWindow(again(up, limitedBy(.9, 0), shut(.08))), up, Holds, "in 8 % of the samples"},
		{LateReader, "but the reader works", smallWindow(again(up, limitedBy(.9, 0), shut(.08)), thread(farEnd, "lr-rx-1", up, 1, .6)), up, RuledOut, "works (60 %"},
		{LateReader, "readers that starve", smallWindow(again(up, limitedBy(.9, 0), shut(.63)), cores(farEnd, 1, .99), thread(farEnd, "lr-rx-1", up, 0, .05)), up, RuledOut, "both far cores are full: CPU first"},
		{LateReader, "eight readers on two busy cores", smallWindow(kind(local, "veth"), tcp(farEnd, probes.Counters{"TcpExt.TCPToZeroWindowAdv": 52}), cores(farEnd, .9, .9),
			thread(farEnd, "lr-rx-1", up, 0, .2), thread(farEnd, "lr-rx-3", up, 1, .2)), up, RuledOut, "CPU first"},
		{LateReader, "far buffer unknown", smallWindow(again(up, limitedBy(.9, 0)), func(e *Evidence) {
			e.Flows[up].Receiver = probes.Unknown[[]StreamWindow](probes.Absent, "stock iperf3")
		}), up, Unseen, "far end not visible"},
		{LateReader, "TCP_INFO unknown", smallWindow(blindSender), up, Unseen, "no TCP_INFO here"},

		{LockedBuffer, "-w 256K", smallWindow(ownWindow(262144)), up, Holds, "Your fixed -w 256 KiB switches autotuning off and is the limit: 326 kB over 40.0 ms allow 65.3 Mbit/s. Drop -w."},
		{LockedBuffer, "-w, send side", smallSendBuffer(ownWindow(2097152)), up, Holds, "Your fixed -w"},
		{LockedBuffer, "-w, but no limit", smallWindow(ownWindow(262144), again(up, limitedBy(.1, .1), buffers(engine.SockMem{SndBuf: 524288}))), up, RuledOut, "10 % of the time"},
		{LockedBuffer, "no -w, buffer at its most", smallWindow(), up, RuledOut, "no -w"},
		{LockedBuffer, "fixed by the program", smallWindow(setting(farEnd, "net.ipv4.tcp_rmem", "4096 131072 33554432")), up, Holds, "A fixed receive buffer at the far end"},
		{LockedBuffer, "TCP_INFO unknown", smallWindow(blindSender, ownWindow(262144)), up, Unseen, "no TCP_INFO here"},

		{SendBuffer, "4 MB over 107 ms", smallSendBuffer(), up, Holds, "The send buffer limits: 4.19 MB / 107 ms = 314 Mbit/s. Raise tcp_wmem here."},
		{SendBuffer, "fS .25", smallSendBuffer(again(up, limitedBy(0, .25))), up, Holds, ""},
		{SendBuffer, "fS .24", smallSendBuffer(again(up, limitedBy(0, .24))), up, RuledOut, "24 %"},
		{SendBuffer, "most is unsent", smallSendBuffer(again(up, func(w *StreamWindow) { w.Now.NotSentBytes = 2200000 })), up, RuledOut, "has not been sent once"},
		{SendBuffer, "may still grow", smallSendBuffer(setting(local, "net.ipv4.tcp_wmem", "4096 16384 33554432"), again(up, func(w *StreamWindow) {
			w.MemBefore = probes.Got(engine.SockMem{SndBuf: 2097152})
		})), up, RuledOut, "still grows"},
		{SendBuffer, "fixed by the program", smallSendBuffer(setting(local, "net.ipv4.tcp_wmem", "4096 16384 33554432")), up, Holds, "its program has fixed it (SO_SNDBUF)"},
		{SendBuffer, "sender's core is full", smallSendBuffer(cores(local, .1, .97), thread(local, "lr-tx-1", up, 1, .97)), up, RuledOut, "CPU first"},
		{SendBuffer, "buffers unknown", smallSendBuffer(again(up, func(w *StreamWindow) {
			w.Mem = probes.Unknown[engine.SockMem](probes.Unsupported, "no SO_MEMINFO")
		})), up, Unseen, "no SO_MEMINFO"},
		{SendBuffer, "would allow twice as much", smallSendBuffer(rateOf(up, 150e6)), up, RuledOut, "would allow"},
		{SendBuffer, "setting unknown", smallSendBuffer(func(e *Evidence) { e.Ends[local].Settings = nil }), up, Holds, ""},
		{SendBuffer, "far sender", base(direction(down)), down, Unseen, "far end not visible"},

		{UnscaledWindow, "no option", smallWindow(again(up, func(w *StreamWindow) { w.Now.Options, w.Now.SndWnd = 3, 65535 })), up, Holds, "64 KB per round trip of 40.0 ms, 13.1 Mbit/s in all."},
		{UnscaledWindow, "window larger than possible without", smallWindow(again(up, func(w *StreamWindow) { w.Now.Options, w.Now.SndWnd = 0, 65536 })), up, RuledOut, "is on"},
		{UnscaledWindow, "option", smallWindow(again(up, func(w *StreamWindow) { w.Now.Options, w.Now.SndWnd = 4, 1000 })), up, RuledOut, "is on"},
		{UnscaledWindow, "neither read", base(sender(up, nil)), up, Unseen, "neither options"},
		{UnscaledWindow, "TCP_INFO unknown", base(), up, Unseen, "only the other end knows"},

		{AskedRate, "the program offers 20 Mbit/s", base(rateOf(up, 20.1e6), sender(up, resting(1, .49, 0))), up, Holds, "program itself offers only 20.1 Mbit/s: its sockets had data for 49 % of the time."},
		{AskedRate, "69 % of the samples", base(sender(up, resting(.69, .49, 0))), up, RuledOut, ""},
		{AskedRate, "sockets busy", base(sender(up, resting(1, .6, 0))), up, RuledOut, "60 %"},
		{AskedRate, "data waits", base(sender(up, resting(1, .49, 65537))), up, RuledOut, "data waits"},
		{AskedRate, "the sender's core is full", base(sender(up, resting(1, .49, 0)), cores(local, .96), thread(local, "lr-tx-1", up, 0, .9)), up, RuledOut, "is full"},
		{AskedRate, "TCP_INFO unknown", base(), up, Unseen, "only the other end knows"},

		{Paced, "by BBR", base(rateOf(up, 28e6), sender(up, windows(wide(40*ms, 41*ms), by(bbr), func(w *StreamWindow) { w.Now.PacingRate = 30e6 / 8 }))), up, Holds, "BBR paces the streams to 30.0 Mbit/s"},
		{Paced, "BBR with a queue", base(rateOf(up, 28e6), sender(up, windows(wide(40*ms, 44*ms), by(bbr), func(w *StreamWindow) { w.Now.PacingRate = 30e6 / 8 }))), up, RuledOut, "not what is reached"},
	}
}
