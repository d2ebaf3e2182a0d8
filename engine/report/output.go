package report

import (
	"fmt"
	"io"
	"sync"
)

// output is where a sink writes. It keeps the first error and writes nothing after it:
// half a report with a hole in it would look like a whole one.
type output struct {
	w   io.Writer
	err error
}

func (o *output) write(b []byte) {
	if o.err != nil || len(b) == 0 {
		return
	}
	if _, err := o.w.Write(b); err != nil {
		o.err = fmt.Errorf("writing the report: %w", err)
	}
}

// Locked makes w safe for several sinks at once. Every sink of this package makes one
// Write of whole lines per call (JSON: one per document, JSON stream: one per event), so
// nothing is torn apart.
func Locked(w io.Writer) io.Writer { return &locked{w: w} }

type locked struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}
