package diagnose

import "time"

// Codes of the findings, as the project's list of rules numbers them. R10b and R10c are
// R10's neighbours for a computer that has no free core left; the X codes are answers
// that are no cause.
const (
	LineRate      = "R09"
	SenderCore    = "R10"
	AllCoresFull  = "R10b"
	CoresBusy     = "R10c"
	ReceiverCore  = "R11"
	SoftIRQCore   = "R12"
	SharedCore    = "R13"
	OtherPrograms = "R19b"
	AskedRate     = "R35" // the own -b
	Paced         = "R36" // --fq-rate, or the simulated link
	Ramping       = "R37"
	FarOneThread  = "R44c"

	Measuring  = "X01" // not enough evidence yet
	FarUnknown = "X02"
	NoCause    = "X03"
	StandStill = "X04" // no payload moves at all
)

// rules is the list in the order of precedence: physical, at the ceiling, CPU, local
// queues and memory, TCP limits, path, storage; then the answers that are no cause. A new
// rule takes its place here and its function in the file of its family.
var rules = []rule{
	// Nothing moves: whatever else holds, this comes first. It is not asked to hold for
	// 3 s, since it is itself a statement about the last seconds.
	{code: StandStill, title: "no payload moves", check: standStill},

	{code: LineRate, title: "line rate reached", check: lineRate, settle: settle},

	// Other programs and full computers come before single threads: they are why the
	// threads look full or starve.
	{code: OtherPrograms, title: "other programs own the CPU", check: otherPrograms, host: true, settle: settle},
	{code: AllCoresFull, title: "all cores are full", check: allCoresFull, host: true, settle: settle,
		hiddenBy: []string{OtherPrograms}},
	{code: SenderCore, title: "one sending thread fills a core", check: senderCore, settle: settle,
		hiddenBy: []string{OtherPrograms, AllCoresFull}},
	{code: ReceiverCore, title: "one receiving thread fills a core", check: receiverCore, settle: settle,
		hiddenBy: []string{OtherPrograms, AllCoresFull}},
	{code: SoftIRQCore, title: "packet handling fills a core", check: softIRQCore, settle: settle,
		hiddenBy: []string{AllCoresFull}},
	{code: SharedCore, title: "interrupts and a payload thread share a full core", check: sharedCore, settle: settle,
		hiddenBy: []string{OtherPrograms, AllCoresFull, SenderCore, ReceiverCore, SoftIRQCore}},
	{code: CoresBusy, title: "the cores are busy", check: coresBusy, host: true, settle: settle,
		hiddenBy: []string{OtherPrograms, AllCoresFull, SenderCore, ReceiverCore, SoftIRQCore, SharedCore, LineRate}},

	{code: AskedRate, title: "the asked rate is reached", check: askedRate, settle: settle},
	{code: Paced, title: "the pacing is the limit", check: paced, settle: settle},
	{code: Ramping, title: "still ramping up", check: ramping, settle: settle,
		hiddenBy: []string{StandStill, LineRate, AskedRate, Paced}},

	{code: FarOneThread, title: "the far iperf3 is one full thread", check: farOneThread, settle: settle,
		hiddenBy: []string{LineRate, AskedRate, Paced, AllCoresFull}},

	// These wait for less than a cause stays when it holds no more, so that there is no
	// moment without an answer between the two.
	{code: FarUnknown, title: "the far side is unknown", check: farUnknown, settle: soon,
		hiddenBy: []string{StandStill, LineRate, AskedRate, Paced}},
	{code: NoCause, title: "no cause found", check: noCause, last: true, settle: soon,
		hiddenBy: []string{Ramping}},
	{code: Measuring, title: "measuring", check: measuring, last: true},
}

// leastAge is how long a step must have run before "nothing found" means anything.
const leastAge = 3 * time.Second
