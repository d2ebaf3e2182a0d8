// Package diagnose says what holds a transfer back: it turns an [Evidence] into
// findings, and findings into one verdict per direction that does not flap.
//
// engine/session builds the Evidence, with [Recent] for what covers some seconds, and
// shows what [Tracker] says of it. The package never reads a file, a socket or a clock, never prints, and knows no units but
// base units: bits per second, bytes, shares from 0 to 1.
//
// # Rules
//
// A rule is a function of the evidence and one direction. It answers in one of three
// ways: it holds (with a finding), it is ruled out, or it cannot tell because a reading
// is missing. "Cannot tell" is never taken for "fine"; [Review] lists all three with the
// reason. The ordered list is in rules.go, and one family of rules has one file. Codes
// are those of the project's list of rules; the ones that start with X are answers that
// are no cause: measuring, far side unknown, no cause found, standing still.
//
// # Order
//
// Physical, at the ceiling, CPU, local queues, TCP limits, path, storage. The first
// finding that is sure is the verdict; when none is, the first likely one. A symptom is
// hidden while its cause shows (rule.hiddenBy). A finding appears after it has held for
// 3 s and stays until it has not held for 2 s: see [Tracker].
package diagnose
