package diagnose

import (
	"time"

	"linerate/engine"
)

// rules is the list in the order of precedence: physical, at the ceiling, CPU, local
// queues and memory, TCP limits, path, storage and platform; then the answers that are no
// cause. A new rule takes its place here and its function in the file of its family.
//
// Within the CPU family causes come first: other programs, a slow clock, heat, offloads
// that are off and a full computer are why threads look full or starve. A shaper whose
// rate is what flows is the limit, however busy the cores are.
var rules = []rule{
	// Nothing moves: whatever else holds, this comes first. It is not asked to hold for
	// 3 s, since it is itself a statement about the last seconds.
	{code: StandStill, title: "no payload moves", check: standStill, hiddenBy: []string{BlackHole}},

	{code: LinkBelow, title: "the link came up too slow", check: linkBelow, host: true, setup: true, settle: settle},
	{code: HalfDuplex, title: "half duplex", check: halfDuplex, host: true, setup: true, settle: settle},
	{code: DamagedFrames, title: "frames are damaged on the wire", check: damagedFrames, host: true, setup: true, settle: settle},
	{code: BusCeiling, title: "the card's slot is the ceiling", check: busCeiling, setup: true, settle: settle,
		hiddenBy: []string{LineRate}},
	{code: SleepyBus, title: "PCIe power saving slows receiving", check: sleepyBus, settle: settle,
		hiddenBy: []string{LineRate, BusCeiling}},
	{code: EnergyEfficient, title: "Energy-Efficient Ethernet drops", check: energyEfficient, host: true, setup: true, settle: settle},
	{code: Paused, title: "pause frames hold the sender back", check: paused, settle: settle,
		hiddenBy: []string{LineRate}},
	{code: OneBondLeg, title: "one leg of the bond carries all", check: oneBondLeg, settle: settle,
		hiddenBy: []string{LineRate}},

	{code: LineRate, title: "line rate reached", check: lineRate, settle: settle},

	{code: OtherPrograms, title: "other programs own the CPU", check: otherPrograms, host: true, setup: true, settle: settle,
		hiddenBy: []string{OwnShaper}},
	{code: SlowClock, title: "the core runs below its clock", check: slowCore, host: true, setup: true, settle: settle,
		hiddenBy: []string{LineRate}},
	{code: Heat, title: "the CPU is too hot", check: heat, host: true, setup: true, settle: settle},
	{code: AllCoresFull, title: "all cores are full", check: allCoresFull, host: true, settle: settle,
		hiddenBy: []string{OtherPrograms, OffloadsOff, OwnShaper}},
	{code: SenderCore, title: "one sending thread fills a core", check: senderCore, settle: settle,
		hiddenBy: []string{OtherPrograms, AllCoresFull, OffloadsOff, OwnShaper}},
	{code: ReceiverCore, title: "one receiving thread fills a core", check: receiverCore, settle: settle,
		hiddenBy: []string{OtherPrograms, AllCoresFull, OffloadsOff, OwnShaper}},
	{code: Collision, title: "streams collide on one queue", check: collision, settle: settle,
		hiddenBy: []string{LineRate, AllCoresFull}},
	{code: SingleQueue, title: "the card has one queue", check: singleQueue, setup: true, settle: settle,
		hiddenBy: []string{LineRate, AllCoresFull}},
	{code: SoftIRQCore, title: "packet handling fills a core", check: softIRQCore, settle: settle,
		hiddenBy: []string{AllCoresFull, Collision, OffloadsOff, OwnShaper}},
	{code: SharedCore, title: "interrupts and a payload thread share a full core", check: sharedCore, settle: settle,
		hiddenBy: []string{OtherPrograms, AllCoresFull, SenderCore, ReceiverCore, SoftIRQCore, OffloadsOff, OwnShaper}},
	{code: CrowdedCore, title: "a payload thread shares a full core", check: crowdedCore, settle: settle,
		hiddenBy: []string{OtherPrograms, AllCoresFull, SenderCore, ReceiverCore, SoftIRQCore, SharedCore, LineRate, OffloadsOff, OwnShaper}},
	{code: Steal, title: "the hypervisor withholds CPU", check: steal, host: true, setup: true, settle: settle,
		hiddenBy: []string{LineRate}},
	{code: CPUQuota, title: "a CPU limit holds the test back", check: quota, host: true, setup: true, settle: settle,
		hiddenBy: []string{LineRate}},
	{code: CoresBusy, title: "the cores are busy", check: coresBusy, host: true, settle: settle,
		hiddenBy: []string{OtherPrograms, AllCoresFull, SenderCore, ReceiverCore, SoftIRQCore, SharedCore, CrowdedCore, CPUQuota, OwnShaper, OffloadsOff, LineRate}},
	{code: Squeezed, title: "the packet budget ends early", check: squeezed, settle: settle,
		hiddenBy: []string{LineRate, AllCoresFull, CoresBusy, SoftIRQCore}},

	{code: RingOverflow, title: "the receive ring overflows", check: ringOverflow, settle: settle,
		hiddenBy: []string{AllCoresFull, SoftIRQCore}},
	{code: BacklogDrops, title: "the packet backlog is full", check: backlogDrops, settle: settle,
		hiddenBy: []string{AllCoresFull, SoftIRQCore}},
	{code: QdiscDrops, title: "the sender's own queue drops", check: qdiscDrops, settle: settle},
	{code: OwnShaper, title: "an own shaper is the limit", check: ownShaper, setup: true, settle: settle},
	{code: OffloadsOff, title: "offloads are off", check: offloadsOff, setup: true, settle: settle,
		hiddenBy: []string{LineRate, OtherPrograms}},
	{code: MergingForwarder, title: "LRO where packets are forwarded", check: mergingForwarder, host: true, setup: true, settle: settle},
	{code: DatagramBufferFull, title: "the UDP receive buffer is full", check: datagramBufferFull, settle: settle},
	{code: MemoryPressure, title: "TCP memory is short", check: memoryPressure, host: true, settle: settle,
		hiddenBy: []string{AllCoresFull, ReceiverCore, LateReader, CoresBusy}},
	{code: LockedOut, title: "packets dropped while the socket was held", check: lockedOut, settle: settle,
		hiddenBy: []string{AllCoresFull, ReceiverCore, CoresBusy}},

	{code: ReceiveWindow, title: "the receive window is too small", check: receiveWindow, settle: settle, settled: true, spare: true,
		hiddenBy: []string{LineRate, OwnShaper, UserStack}},
	{code: LateReader, title: "the receiver does not read fast enough", check: lateReader, settle: settle, spare: true,
		hiddenBy: []string{LineRate, OwnShaper, AllCoresFull, CoresBusy, CrowdedCore, OtherPrograms, DiskCeiling, UserStack}},
	{code: LockedBuffer, title: "a fixed buffer is the limit", check: lockedBuffer, settle: settle, settled: true, spare: true,
		hiddenBy: []string{LineRate, OwnShaper}},
	{code: SendBuffer, title: "the send buffer is too small", check: sendBuffer, settle: settle, settled: true, spare: true,
		hiddenBy: []string{LineRate, OwnShaper, UserStack}},
	{code: UnscaledWindow, title: "no window scaling", check: unscaledWindow, settle: settle,
		hiddenBy: []string{LineRate, UserStack}},
	{code: AskedRate, title: "the asked rate is reached", check: askedRate, settle: settle},
	{code: Paced, title: "the pacing is the limit", check: paced, settle: settle,
		hiddenBy: []string{LineRate}},
	{code: Ramping, title: "still ramping up", check: ramping, settle: settle,
		hiddenBy: []string{StandStill, LineRate, AskedRate, Paced, OwnShaper, Reordering}},

	{code: RandomLoss, title: "random loss on the path", check: onThePath(randomLoss), settle: settle, settled: true, spare: true,
		hiddenBy: lossExplained},
	{code: Policer, title: "the path polices", check: onThePath(policer), settle: settle, settled: true, spare: true,
		hiddenBy: lossExplained},
	{code: ShallowQueue, title: "a buffer on the path is small", check: onThePath(shallowQueueOnPath), settle: settle, settled: true, spare: true,
		hiddenBy: append([]string{RandomLoss, Policer, Reordering}, lossExplained...)},
	{code: Bufferbloat, title: "a queue on the path adds delay", check: bufferbloat, settle: settle, settled: true, spare: true,
		hiddenBy: []string{OwnShaper}},
	{code: AckCongestion, title: "acknowledgements queue", check: ackCongestion, settle: settle, settled: true, spare: true,
		hiddenBy: []string{OwnShaper}},
	{code: BlackHole, title: "large packets vanish", check: blackHole, setup: true, settle: settle},
	{code: MixedMTU, title: "MTUs differ on the path", check: mixedMTU, settle: settle,
		hiddenBy: []string{BlackHole, LargeFramesLost, UserStack}},
	{code: LargeFramesLost, title: "large frames are lost when both ways run", check: largeFramesLost, settle: settle, settled: true},
	// It rests on the mean of a whole step, which only its end tells: there is nothing to
	// wait for.
	{code: FarOneThread, title: "the far iperf3 is one full thread", check: farOneThread,
		hiddenBy: []string{LineRate, AskedRate, Paced, AllCoresFull, OwnShaper}},
	{code: ForeignTool, title: "the far iperf3 is a Windows build", check: foreignTool, settle: settle,
		hiddenBy: []string{LineRate, AskedRate, Paced, OwnShaper}},
	{code: FlowCap, title: "the provider caps a flow", check: flowCap, settle: settle, settled: true, spare: true,
		hiddenBy: []string{LineRate, AskedRate, Paced, OwnShaper}},
	{code: RouterAsEndpoint, title: "the test ends on a router", check: routerAsEndpoint, setup: true, settle: settle,
		hiddenBy: []string{LineRate, FilterCost}},
	{code: ThroughTunnel, title: "the test goes through a tunnel", check: throughTunnel, setup: true, settle: settle,
		hiddenBy: []string{LineRate, TunnelCore, UserStack}},
	{code: Reordering, title: "packets arrive out of order", check: reordering, settle: settle},
	{code: Radio, title: "Wi-Fi", check: radio, setup: true, settle: settle},

	{code: DiskCeiling, title: "the disk is the ceiling", check: diskCeiling, settle: settle,
		hiddenBy: []string{LineRate}},
	{code: FilterCost, title: "firewall and connection tracking", check: filterCost, host: true, setup: true, settle: settle},
	{code: RemoteNode, title: "thread and card on different processors", check: remoteNode, settle: settle,
		hiddenBy: []string{LineRate}},
	{code: MemoryBound, title: "memory bandwidth is the limit", check: memoryBound, settle: settle,
		hiddenBy: []string{LineRate, AllCoresFull}},
	{code: OutsideGuest, title: "the limit is outside this virtual machine", check: outsideGuest, settle: settle,
		hiddenBy: []string{LineRate, AskedRate, Paced, SingleQueue, OwnShaper}},
	{code: UserStack, title: "the network is a user program", check: userStack, setup: true, settle: settle,
		hiddenBy: []string{LineRate}},
	{code: TunnelCore, title: "a tunnel fills a core", check: tunnelCore, settle: settle,
		hiddenBy: []string{LineRate, OtherPrograms}},
	{code: TimerLimited, title: "the sender's timer is too coarse", check: timerLimited, settle: settle,
		hiddenBy: []string{Paced, OwnShaper}},

	// These wait for less than a cause stays when it holds no more, so that there is no
	// moment without an answer between the two.
	{code: FarUnknown, title: "the far side is unknown", check: farUnknown, settle: soon,
		hiddenBy: []string{StandStill, LineRate, AskedRate, Paced, OwnShaper}},
	{code: NoCause, title: "no cause found", check: noCause, last: true, setup: true, settle: soon,
		hiddenBy: []string{Ramping}},
	{code: Measuring, title: "measuring", check: measuring, last: true},
}

// lossExplained are the causes of loss that an end of the path can see by itself.
var lossExplained = []string{HalfDuplex, DamagedFrames, BacklogDrops, QdiscDrops, OwnShaper, BlackHole, LargeFramesLost}

// onThePath asks a rule about loss only where no end is seen to lose the packets itself,
// be it for something that no rule of its own speaks of.
func onThePath(check func(*Evidence, engine.Direction) ruling) func(*Evidence, engine.Direction) ruling {
	return func(e *Evidence, dir engine.Direction) ruling {
		if why := e.lostAtEnd(dir); why != "" {
			return no(why)
		}
		return check(e, dir)
	}
}

// leastAge is how long a step must have run before "nothing found" means anything.
const leastAge = 3 * time.Second
