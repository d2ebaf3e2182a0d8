package iperf

import "linerate/engine/internal/wire"

const (
	// sideShare is the part of the payload that samples may take.
	sideShare = 0.01
	// maxSavings is what may be saved up, bytes: for a step that stalls, and for the
	// vitals of a slow one.
	maxSavings = wire.MaxFrame
	// pathCredit is what the one sample that brings the sizes that pass may take before it
	// has been earned: where large packets vanish nothing will be. Half a KiB, and the loads
	// of some 200 cores.
	pathCredit = 4 << 10
)

// allowance keeps samples below sideShare of the payload, however fast or slow it is:
// what has been moved earns bytes, samples spend them. First fields are left out, then
// streams, then whole samples.
type allowance struct {
	saved  float64
	earned float64 // by the last call of earn
}

// earn takes the payload moved since the last call.
func (a *allowance) earn(payload uint64) {
	a.earned = sideShare * float64(payload)
	a.saved = min(a.saved+a.earned, max(a.earned, maxSavings))
}

// spend takes n bytes and reports whether they were there, up to credit of them still to be
// earned.
func (a *allowance) spend(n, credit int) bool {
	if float64(n) > a.saved+float64(credit) {
		return false
	}
	a.saved -= float64(n)
	return true
}

// fit writes a sample as large as can be afforded. One that must do without the vitals it
// was offered with is smaller still, without other programs: they are saved up for.
func (a *allowance) fit(s wire.Sample, first int) (wire.Fitted, error) {
	// At most 16 s of what is being earned, so that a step that has slowed down is told
	// of in small samples; while nothing moves savings are spent by eighths.
	limit := max(min(a.saved, 32*a.earned), a.saved/8)
	fit, err := s.Fit(int(limit), first)
	if err != nil || fit.Vitals || len(s.Vitals) == 0 {
		return fit, err
	}
	s.Vitals, s.VitalsAge = nil, 0
	s.Others, s.OthersWhy = nil, ""
	return s.Fit(int(min(limit, max(a.earned*3/4, a.saved/16))), first)
}
