package engine

import (
	"slices"
	"strings"
	"time"
)

// Severity ranks a finding. Colour never stands alone for it: the screen shows a word
// and a sign too.
type Severity uint8

const (
	SeverityOK      Severity = iota // nothing is wrong: line rate, or not enough seen yet
	SeverityLimit                   // what bounds a healthy test: a core, the own -b or -w
	SeverityWarning                 // costs speed and should be fixed
	SeverityFault                   // broken
)

var severityNames = [...]string{"ok", "limit", "warning", "fault"}

func (s Severity) String() string { return severityNames[min(int(s), len(severityNames)-1)] }

// Confidence says how far a finding can be trusted. Only Sure findings become the
// verdict before weaker ones.
type Confidence uint8

const (
	Unsure Confidence = iota
	Likely
	Sure
)

var confidenceNames = [...]string{"unsure", "likely", "sure"}

func (c Confidence) String() string { return confidenceNames[min(int(c), len(confidenceNames)-1)] }

// Side is the host a piece of evidence comes from.
type Side uint8

const (
	Local Side = iota // this computer
	Far               // the other end
	Path              // what lies between
)

var sideNames = [...]string{"local", "far", "path"}

func (s Side) String() string { return sideNames[min(int(s), len(sideNames)-1)] }

// Evidence is one number a finding rests on.
type Evidence struct {
	Name  string // "core 3 busy", "tcpi_rtt"
	Value float64
	Unit  string // base unit: "bit/s", "B", "s", "share", "1/s"; "" for a count; True
	Side  Side
	Age   time.Duration // since it was read
}

// True is the unit of what is no number: it is so, and the value is 1.
const True = "true"

// Remedy is something the operator can do; the program never does it unasked.
type Remedy struct {
	Text       string // one sentence
	Temporary  string // command that lasts until the next boot; may be empty
	Persistent string // command or file that lasts; may be empty
}

// CommandSteps splits a command of a Remedy where the shell would, at semicolons outside of
// quotes, for screens on which the whole is too long for a line. Each step can be run by
// itself, in order. "" has none.
func CommandSteps(command string) (steps []string) {
	var quote rune
	begin := 0
	for i, r := range command {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == ';':
			steps = append(steps, strings.TrimSpace(command[begin:i]))
			begin = i + 1
		}
	}
	steps = append(steps, strings.TrimSpace(command[begin:]))
	return slices.DeleteFunc(steps, func(s string) bool { return s == "" })
}

// Proof names the one action that shows whether a finding is right. The ones that are a
// single character are also the key of the dashboard that does it; the others are whole
// steps which the session conducts: one changed thing, then back.
type Proof = string

// The proof actions there are. "Dir" is the direction of the finding.
const (
	ProofNone       Proof = ""
	ProofAddStream  Proof = "+"          // one stream more: a limit of a single stream, thread or queue gives way
	ProofReverse    Proof = "R"          // the other direction: what is only wrong in one shows itself
	ProofOneWay     Proof = "one-way"    // Dir alone, where payload flows both ways
	ProofCongestion Proof = "congestion" // CUBIC instead of BBR, BBR instead of all others
	ProofRate95     Proof = "rate-95"    // -b at 95 % of the rate seen: a policer stops dropping, random loss goes on
	ProofPin        Proof = "pin"        // the payload threads on free cores, away from the interrupts
	ProofMTU        Proof = "mtu"        // a sweep of DF datagrams in Dir: the largest that passes
	ProofDiscard    Proof = "discard"    // memory to memory: no file at either end
	ProofUDP        Proof = "udp"        // UDP at 90 % of the TCP rate seen
)

// Finding is a cause, or the absence of one, with its proof. Code is the rule's number
// in the project's list ("R10"); it stays stable. Text is the sentence for the screen: who
// is full, the number, what to do.
type Finding struct {
	Code       string
	Title      string // a few words: "one sending thread fills a core"
	Text       string
	Short      string // the same in at most 40 columns, for the smallest screen
	Severity   Severity
	Confidence Confidence
	Side       Side
	Dir        Direction // Upload or Download; Both when it concerns the host as a whole
	Core       int       // the core it is about; -1 none
	Evidence   []Evidence
	Remedy     []Remedy
	Press      string        // the key that helps ("+"), "" none
	Proof      Proof         // the one action that would prove it; ProofNone where there is none
	Since      time.Duration // session time at which it became visible
}

// Verdict is what the screen says about one direction: the first sure finding, and
// what else holds.
type Verdict struct {
	Dir     Direction
	Main    Finding
	Also    []Finding
	Checked []Check // every rule's answer, in the order of the rules; up to 2 s older than the rest, nil at first
}

// Findings lists what verdicts hold, the verdicts themselves first and the gravest of them
// before the others. A finding about both directions is listed once.
func Findings(verdicts []Verdict) []Finding {
	var mains, also []Finding
	for _, v := range verdicts {
		mains = append(mains, v.Main)
		also = append(also, v.Also...)
	}
	slices.SortStableFunc(mains, func(a, b Finding) int { return int(b.Severity) - int(a.Severity) })
	var list []Finding
	for _, f := range append(mains, also...) {
		same := func(g Finding) bool { return g.Code == f.Code && g.Side == f.Side && g.Dir == f.Dir }
		if !slices.ContainsFunc(list, same) {
			list = append(list, f)
		}
	}
	return list
}
