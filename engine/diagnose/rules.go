package diagnose

// Codes of the rules, as the project's list numbers them. Two letters more than the list
// are ours: R10b and R10c are R10's neighbours for a computer without a free core.
const (
	LineRate      = "R09"
	SenderCore    = "R10"
	AllCoresFull  = "R10b"
	CoresBusy     = "R10c"
	ReceiverCore  = "R11"
	SoftIRQCore   = "R12"
	SharedCore    = "R13"
	OtherPrograms = "R19b"
	AskedRate     = "R35"
	Paced         = "R36"
	Ramping       = "R37"
	FarOneThread  = "R44c"

	StandStill = "X04" // no payload moves at all
	FarUnknown = "X02"
	NoCause    = "X03"
	Measuring  = "X01" // not enough evidence yet
)

// rules is the list in the order of precedence; the order is the contract of
// diagnosis: physical, ceiling, CPU, local queues, TCP limits, path, storage.
var rules = []rule{}
