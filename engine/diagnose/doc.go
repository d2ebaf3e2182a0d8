// Package diagnose says what holds a transfer back: it turns an [Evidence] into
// findings, and findings into one verdict per direction that does not flap.
//
// engine/session builds the Evidence, with [Recent] for what covers some seconds, and
// shows what [Tracker] says of it; evidence that stands alone, as a saved [Document]
// does, gets its [Verdicts] at once. The package never reads a file, a socket or a clock,
// never prints, never changes a setting, and knows no units but base units: bits per
// second, bytes, shares from 0 to 1.
//
// # Rules
//
// A rule is a function of the evidence and one direction. It answers in one of three
// ways: it holds (with a finding), it is ruled out, or it cannot tell because a reading
// is missing. "Cannot tell" is never taken for "fine"; [Review] lists all three with the
// reason. The ordered list is in rules.go, the codes are in codes.go, and one family of
// rules has one file. Codes are those of the project's list of rules; the ones that start
// with X are answers that the list does not number. A threshold stands, with its reason,
// at the head of the file that uses it.
//
// # Two ends
//
// The sender owns the congestion window, losses and the send buffer; the receiver owns
// its ring, packet backlog, receive buffer and reader. Either may be this computer or the
// far one, so rules ask [Evidence.Sender] and [Evidence.Receiver] for the side and say
// "far end not visible" where it has not told. On a veth pair the far end may be this
// very computer in another network namespace: then its cores are the same ones.
//
// # Order
//
// Physical, at the ceiling, CPU, local queues, TCP limits, path, storage. The first
// finding that is sure is the verdict; when none is, the first likely one. A finding is
// sure when all its conditions were read and hold, and likely when one that sharpens it
// is missing. A symptom is hidden while its cause shows (rule.hiddenBy). Cores come before
// what they imitate: a flow that waits for one looks like a full window and a lossy path
// (rule.spare). The path is not judged while the rate ramps up (rule.settled). A finding
// appears after it has held for 3 s and stays until it has not held for 2 s: see
// [Tracker].
//
// # Remedies
//
// A remedy is a sentence and, where they fit the computer it is for, a command that lasts
// until the next boot and one that lasts (fit.go). No remedy switches a firewall off, and
// none sells buffer settings where no buffer was seen to be too small.
package diagnose
