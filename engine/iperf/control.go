package iperf

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"linerate/engine/internal/wire"
)

// message is one thing read from the control connection. What it is follows from the
// order of the protocol, not from the bytes: a state, a fault behind its state, or a
// JSON text.
type message struct {
	state wire.State
	fault wire.Fault // when state is ServerError
	json  []byte     // parameters or results; state is then 0
	err   error      // the connection is over; nothing follows
	said  string     // with a *wire.StateError: what the peer sent, quoted
}

// control is a test's control connection. One goroutine reads it (receive). The goroutine
// that owns the test writes it, but for the time between teller.begin and teller.end: then
// the teller's does, and no other.
type control struct {
	conn     net.Conn
	rest     []byte        // of a frame that the peer has not taken whole; the writer's
	messages chan message  // closed when receive returns
	gone     chan struct{} // closed by close: nobody takes messages any more
	once     sync.Once
	reader   sync.WaitGroup
}

// grammar reads the control connection of one role, handing over message by message.
// It returns when the peer has nothing more to say, with the error of the read if that
// was the reason. emit reports false when nobody listens any more.
type grammar func(r *bufio.Reader, emit func(message) bool) error

// newControl takes over conn and starts reading it.
func newControl(conn net.Conn, g grammar) *control {
	c := &control{conn: conn, messages: make(chan message, 4), gone: make(chan struct{})}
	c.reader.Add(1)
	go c.receive(g)
	return c
}

func (c *control) receive(g grammar) {
	defer c.reader.Done()
	defer close(c.messages)
	r := bufio.NewReader(c.conn)
	emit := func(m message) bool {
		select {
		case c.messages <- m:
			return true
		case <-c.gone:
			return false
		}
	}
	if err := g(r, emit); err != nil {
		emit(message{err: err, said: overheard(err, r)})
	}
}

// overheard quotes what has already arrived of an answer that is no iperf3: the
// greeting of the wrong server names it.
func overheard(err error, r *bufio.Reader) string {
	var bad *wire.StateError
	if !errors.As(err, &bad) {
		return ""
	}
	rest, _ := r.Peek(min(r.Buffered(), 200))
	line := append([]byte{bad.Byte}, rest...)
	for i, b := range line {
		if b == '\r' || b == '\n' {
			line = line[:i]
			break
		}
	}
	if text := wire.Clean(string(line), 60); text != "" && len(text) >= len(line)/2 {
		return strconv.Quote(text)
	}
	return fmt.Sprintf("byte 0x%02x", bad.Byte)
}

// frames takes what arrives on the side channel: a frame's JSON, or why it is none. It is
// called from the reading goroutine.
type frames func(s wire.State, text []byte, bad error)

// receiveFrame reads the rest of a frame. One that is too long or empty is passed over, so
// that the test can go on.
func (take frames) receiveFrame(s wire.State, r *bufio.Reader) error {
	text, err := wire.ReadFrame(r)
	var size *wire.SizeError
	if errors.As(err, &size) {
		take(s, nil, err)
		_, err = io.CopyN(io.Discard, r, int64(size.Size))
		return err
	}
	if err != nil {
		return err
	}
	take(s, text, nil)
	return nil
}

// serverTalk is what a server says to a client. Frames may come from the parameters on, by
// which the client asks for them, until the exchange of results.
func (take frames) serverTalk(r *bufio.Reader, emit func(message) bool) error {
	asked := false
	for {
		s, err := wire.ReadState(r)
		if err != nil {
			return err
		}
		m := message{state: s}
		switch {
		case s.Frame() && asked:
			if err := take.receiveFrame(s, r); err != nil {
				return err
			}
			continue
		case s.Frame():
			return &wire.StateError{Byte: byte(s)}
		case s == wire.ServerError:
			if m.fault, err = wire.ReadFault(r); err != nil {
				return err
			}
		}
		asked = s != wire.ExchangeResults
		if !emit(m) {
			return nil
		}
		switch s {
		case wire.ExchangeResults:
			text, err := wire.ReadJSON(r, wire.MaxServerResults)
			if err != nil {
				return fmt.Errorf("reading the server's results: %w", err)
			}
			if !emit(message{json: text}) {
				return nil
			}
		case wire.DisplayResults, wire.ServerError, wire.ServerTerminate, wire.AccessDenied:
			return nil // what a 3.21 server may send after these is noise
		}
	}
}

// listener is what the reader of a client asks and tells the visit at once, before the
// owner's turn comes.
type listener struct {
	frames frames
	side   func() bool // frames are welcome
	ending func()      // the client has ended the test or is gone
}

// clientTalk is what a client says to a server after its cookie.
func (l listener) clientTalk(r *bufio.Reader, emit func(message) bool) error {
	defer l.ending()
	text, err := wire.ReadJSON(r, wire.MaxParams)
	if err != nil {
		return fmt.Errorf("reading the parameters: %w", err)
	}
	if !emit(message{json: text}) {
		return nil
	}
	for {
		s, err := wire.ReadState(r)
		if err != nil {
			return err
		}
		switch {
		case s.Frame() && l.side():
			if err := l.frames.receiveFrame(s, r); err != nil {
				return err
			}
			continue
		case s.Frame():
			return &wire.StateError{Byte: byte(s)}
		case s == wire.TestEnd, s == wire.ClientTerminate:
			l.ending()
		}
		if !emit(message{state: s}) {
			return nil
		}
		switch s {
		case wire.Done, wire.ClientTerminate:
			return nil
		case wire.TestEnd:
			// A client may give up here and say goodbye instead. Results within
			// MaxClientResults begin with a zero byte of length, which no state is.
			if first, err := r.Peek(1); err != nil {
				return err
			} else if first[0] != 0 {
				continue
			}
			text, err := wire.ReadJSON(r, wire.MaxClientResults)
			if err != nil {
				return fmt.Errorf("reading the client's results: %w", err)
			}
			if !emit(message{json: text}) {
				return nil
			}
		}
	}
}

// send writes b at once or fails within timeout. A frame that has begun ends first.
func (c *control) send(b []byte, timeout time.Duration) error {
	if err := c.conn.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	if len(c.rest) > 0 {
		b = append(c.rest, b...)
		c.rest = nil
	}
	_, err := c.conn.Write(b)
	return err
}

// offer writes a frame as far as the peer takes it until the write deadline, which is the
// caller's to set. A frame of which nothing was taken is dropped, since the next one will
// be newer; what is left of one that has begun is kept and goes before everything else.
func (c *control) offer(frame []byte) (begun bool, err error) {
	if len(c.rest) > 0 {
		n, err := c.conn.Write(c.rest)
		if c.rest = c.rest[n:]; err != nil {
			return false, err
		}
	}
	n, err := c.conn.Write(frame)
	if n > 0 {
		c.rest = append([]byte(nil), frame[n:]...)
	}
	return n > 0, err
}

func (c *control) sendState(s wire.State) error { return c.send(s.Append(nil), writeTimeout) }

// goodbye sends s if the peer still takes it. It is the last write.
func (c *control) goodbye(s wire.State) { _ = c.send(s.Append(nil), goodbyeTimeout) }

// close ends the connection and waits for the reader.
func (c *control) close() {
	c.once.Do(func() {
		close(c.gone)
		c.conn.Close()
	})
	c.reader.Wait()
}

// closedByPeer reports whether err is the peer's end of the connection, in whichever
// way it took.
func closedByPeer(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) || resetByPeer(err)
}

// pathDead reports whether the system has given the connection up because nothing came
// back any more: keepAlive sets after how long.
func pathDead(err error) bool {
	var netErr net.Error
	return errors.As(err, &netErr) && netErr.Timeout()
}

func timedOut(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
