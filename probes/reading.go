package probes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// Status says how the attempt to read a value ended.
type Status uint8

const (
	NotRead     Status = iota // nobody has tried yet; the zero value of a Reading is unknown
	OK                        // Value holds what was read
	Absent                    // this kernel or device does not have it
	Unsupported               // this operating system or build cannot tell
	Denied                    // it needs a right that this process lacks
	Failed                    // it was tried and went wrong
)

var statusNames = [...]string{"not read", "ok", "absent", "unsupported", "denied", "failed"}

func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("status %d", uint8(s))
}

// MarshalText writes the status as the word that String gives.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word that MarshalText wrote.
func (s *Status) UnmarshalText(text []byte) error {
	for i, name := range statusNames {
		if name == string(text) {
			*s = Status(i)
			return nil
		}
	}
	return fmt.Errorf("unknown reading status %q", text)
}

// Reading is a value that may be missing. Value is meaningful only when Status is
// OK; otherwise Reason says in a few words, fit for the screen, why it is unknown.
type Reading[T any] struct {
	Value  T      `json:"value"`
	Status Status `json:"status"`
	Reason string `json:"reason,omitempty"`
}

// MarshalJSON writes the value only where it was read: what is unknown has no zero that
// could be taken for it.
func (r Reading[T]) MarshalJSON() ([]byte, error) {
	if r.Status != OK {
		return json.Marshal(struct {
			Status Status `json:"status"`
			Reason string `json:"reason,omitempty"`
		}{r.Status, r.Reason})
	}
	type plain Reading[T] // without this method
	return json.Marshal(plain(r))
}

// Got wraps a value that was read.
func Got[T any](v T) Reading[T] { return Reading[T]{Value: v, Status: OK} }

// Unknown makes a reading without a value.
func Unknown[T any](status Status, reason string) Reading[T] {
	return Reading[T]{Status: status, Reason: reason}
}

// Unread turns the error of a failed attempt into a reading: fs.ErrNotExist is
// Absent, fs.ErrPermission Denied, errors.ErrUnsupported Unsupported, all else Failed.
func Unread[T any](err error) Reading[T] {
	status := Failed
	switch {
	case errors.Is(err, fs.ErrNotExist):
		status = Absent
	case errors.Is(err, fs.ErrPermission):
		status = Denied
	case errors.Is(err, errors.ErrUnsupported):
		status = Unsupported
	}
	return Reading[T]{Status: status, Reason: err.Error()}
}

// Missing is an error whose whole text is the reason, for readers that know better words
// than the kernel's "no such file or directory". errors.Is and Unread take it for what
// its Status says.
type Missing struct {
	Status Status
	Reason string
}

func (m Missing) Error() string { return m.Reason }

// Is makes the error match the standard error of its status; see Unread.
func (m Missing) Is(target error) bool {
	switch target {
	case fs.ErrNotExist:
		return m.Status == Absent
	case fs.ErrPermission:
		return m.Status == Denied
	case errors.ErrUnsupported:
		return m.Status == Unsupported
	}
	return false
}

// Read is Got or Unread, for the usual (value, error) pair.
func Read[T any](v T, err error) Reading[T] {
	if err != nil {
		return Unread[T](err)
	}
	return Got(v)
}

// Known reports whether the value was read.
func (r Reading[T]) Known() bool { return r.Status == OK }

// Get gives the value and whether it was read.
func (r Reading[T]) Get() (T, bool) { return r.Value, r.Status == OK }

// Or gives the value, or other when it is unknown.
func (r Reading[T]) Or(other T) T {
	if r.Status == OK {
		return r.Value
	}
	return other
}

// Why gives the reason a value is missing, "" when it is known.
func (r Reading[T]) Why() string {
	switch {
	case r.Status == OK:
		return ""
	case r.Reason != "":
		return r.Reason
	default:
		return r.Status.String()
	}
}
