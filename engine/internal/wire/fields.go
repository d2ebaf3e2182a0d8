package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// FieldError is a key of a peer's JSON that has the wrong type or a value out of range.
type FieldError struct {
	Key  string
	Want string // what was expected: "a number from 1 to 128"
	Code Code   // what to answer it with
}

func (e *FieldError) Error() string { return fmt.Sprintf("%q is not %s", e.Key, e.Want) }

// fields reads one JSON object key by key and keeps the first error. A key that is
// missing or null counts as not given.
type fields struct {
	m    map[string]json.RawMessage
	code Code // for type errors
	err  error
}

func parseFields(text []byte, code Code) (*fields, error) {
	f := &fields{code: code}
	if err := json.Unmarshal(text, &f.m); err != nil {
		return nil, fmt.Errorf("parsing JSON: %w", err)
	}
	if f.m == nil {
		return nil, fmt.Errorf("parsing JSON: null instead of an object")
	}
	return f, nil
}

func (f *fields) fail(key, want string, code Code) {
	if f.err == nil {
		f.err = &FieldError{Key: key, Want: want, Code: code}
	}
}

func (f *fields) raw(key string) (json.RawMessage, bool) {
	v, ok := f.m[key]
	return v, ok && !bytes.Equal(v, []byte("null"))
}

// flag reads a key documented as JSON true. iperf3 ≥ 3.18 takes false as not given;
// so does this.
func (f *fields) flag(key string) bool {
	v, ok := f.raw(key)
	if !ok {
		return false
	}
	switch string(v) {
	case "true":
		return true
	case "false":
	default:
		f.fail(key, "true or false", f.code)
	}
	return false
}

// float reads a number; ok is false when it is not given.
func (f *fields) float(key string) (v float64, ok bool) {
	raw, ok := f.raw(key)
	if !ok {
		return 0, false
	}
	if c := raw[0]; c != '-' && (c < '0' || c > '9') {
		f.fail(key, "a number", f.code)
		return 0, false
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.IsInf(v, 0) {
		f.fail(key, "a number that fits", f.code)
		return 0, false
	}
	return v, true
}

// minusOne is how iperf3 3.12 of Debian, built with cJSON 1.7.15, writes −1: as an
// unsigned number of 64 bits; other versions round it to 15 digits.
const minusOne = 1 << 64

// integer reads a number, its fraction cut off as iperf3 does, that must lie in
// lo … hi; otherwise the error carries code.
func (f *fields) integer(key string, lo, hi int64, code Code) (v int64, ok bool) {
	x, ok := f.float(key)
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseInt(string(f.m[key]), 10, 64) // exact beyond 2^53
	if err != nil {
		x = math.Trunc(x)
		switch {
		case x >= -(1<<63) && x < 1<<63:
			v = int64(x)
		case x > minusOne*(1-1e-14) && x < minusOne*(1+1e-14):
			v = -1
		default:
			f.fail(key, "a number that fits", code)
			return 0, false
		}
	}
	if v < lo || v > hi {
		f.fail(key, fmt.Sprintf("a number from %d to %d", lo, hi), code)
		return 0, false
	}
	return v, true
}

// switchOn reads a key that iperf3 sends as the number 1.
func (f *fields) switchOn(key string) bool {
	v, _ := f.integer(key, math.MinInt32, math.MaxInt32, f.code)
	return v != 0
}

// text reads a string as it came; callers clean it.
func (f *fields) text(key string) string {
	raw, ok := f.raw(key)
	if !ok {
		return ""
	}
	var s string
	if raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		f.fail(key, "a string", f.code)
		return ""
	}
	return s
}
