package diagnose

// Codes of the findings, as the project's list of rules numbers them. R10b, R10c and R13b
// are neighbours of R10 and R13 for a computer that has no free core left and for one
// whose payload thread shares a core; the X codes are answers that the list does not
// number.
const (
	LinkBelow          = "R01"
	HalfDuplex         = "R02"
	DamagedFrames      = "R03"
	BusCeiling         = "R04"
	SleepyBus          = "R05" // ASPM
	EnergyEfficient    = "R06" // EEE
	Paused             = "R07"
	OneBondLeg         = "R08"
	LineRate           = "R09"
	SenderCore         = "R10"
	AllCoresFull       = "R10b"
	CoresBusy          = "R10c"
	ReceiverCore       = "R11"
	SoftIRQCore        = "R12"
	SharedCore         = "R13"
	CrowdedCore        = "R13b"
	Collision          = "R14"
	SingleQueue        = "R15"
	Steal              = "R16"
	CPUQuota           = "R17"
	SlowClock          = "R18"
	Heat               = "R19"
	OtherPrograms      = "R19b"
	Squeezed           = "R20"
	RingOverflow       = "R21"
	BacklogDrops       = "R22"
	QdiscDrops         = "R23"
	OwnShaper          = "R24"
	OffloadsOff        = "R25"
	MergingForwarder   = "R26" // LRO
	DatagramBufferFull = "R27"
	MemoryPressure     = "R28"
	LockedOut          = "R29" // TCPBacklogDrop
	ReceiveWindow      = "R30"
	LateReader         = "R31"
	LockedBuffer       = "R32"
	SendBuffer         = "R33"
	UnscaledWindow     = "R34"
	AskedRate          = "R35" // the own -b, or a program that offers no more
	Paced              = "R36" // --fq-rate, or the simulated link
	Ramping            = "R37"
	RandomLoss         = "R38"
	Policer            = "R39"
	ShallowQueue       = "R40"
	Bufferbloat        = "R41"
	AckCongestion      = "R42"
	BlackHole          = "R43"
	MixedMTU           = "R44"
	LargeFramesLost    = "R44b"
	FarOneThread       = "R44c"
	FlowCap            = "R45"
	RouterAsEndpoint   = "R45b"
	ThroughTunnel      = "R45c"
	Reordering         = "R46"
	Radio              = "R46b"
	DiskCeiling        = "R47"
	FilterCost         = "R48"
	RemoteNode         = "R49"
	MemoryBound        = "R50"
	OutsideGuest       = "R51"
	UserStack          = "R52"
	TunnelCore         = "R53"
	TimerLimited       = "R54"

	Measuring   = "X01" // not enough evidence yet
	FarUnknown  = "X02"
	NoCause     = "X03"
	StandStill  = "X04" // no payload moves at all
	ForeignTool = "X05" // the far program is slower than its computer
)
