package iperf

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"

	"linerate/engine"
	"linerate/engine/internal/wire"
)

// FuzzTalk reads foreign bytes by both grammars: they end, and only with the errors
// that the states know how to word.
func FuzzTalk(f *testing.F) {
	f.Add([]byte("\x09\x0a\x01\x02\x0d\x00\x00\x00\x02{}\x0e"))
	f.Add([]byte("\x00\x00\x00\x02{}\x04\x00\x00\x00\x02{}\x10"))
	f.Add([]byte("\xfe\x00\x00\x00\x8e"))
	f.Add([]byte("SSH-2.0-OpenSSH_9.2\r\n"))
	f.Add([]byte("\x00\x00\x00\x02{}\x04\x10"))
	f.Add([]byte("\x09\x40\x00\x00\x00\x16" + `{"v":1,"rx":1,"tx":2}` + "\x41\x00\x00\x00\x15" + `{"n":1,"m":3,"w":4}` + "\x41\x00\x00\x00\x00\x0a"))
	f.Add([]byte("\x00\x00\x00\x02{}\x42\x00\x00\x00\x02{}\x41\x00\x01\x00\x01x\x04"))
	f.Fuzz(func(t *testing.T, in []byte) {
		far := newFarEnd(engine.Spec{Streams: 1})
		asked := 0
		l := listener{
			side:   func() bool { return true },
			frames: func(wire.State, []byte, error) { asked++ },
			ending: func() {},
		}
		for name, g := range map[string]grammar{"server": frames(far.heard).serverTalk, "client": l.clientTalk} {
			r := bufio.NewReader(bytes.NewReader(in))
			messages := 0
			err := g(r, func(m message) bool {
				messages++
				return true
			})
			if messages+asked > len(in) {
				t.Errorf("%s: %d messages and %d frames of %d bytes", name, messages, asked, len(in))
			}
			var state *wire.StateError
			var size *wire.SizeError
			if err != nil && !errors.As(err, &state) && !errors.As(err, &size) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%s: undeclared error %v", name, err)
			}
			if said := overheard(err, r); len(said) > 300 {
				t.Errorf("%s: quotes %d bytes", name, len(said))
			}
			// Every error and every message has a sentence.
			if e := unexpected(stateFirst, message{err: err}); e.Text == "" || e.State == "" {
				t.Errorf("%s: no sentence for %v", name, err)
			}
		}
	})
}
