package sock

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// errAgain says that a call moved nothing within the socket's timeout, or was
// interrupted: neither is an error of the connection.
var errAgain = errors.New("no progress yet")

// mover makes one system call that moves up to want bytes and tells how many it did. It
// waits for them up to callTimeout, or, with now, takes what goes at once, as far as
// the system can do that. An error comes with the bytes moved before it. io.EOF: the peer
// has closed its side.
type mover func(want int, now bool) (int, error)

// pump is the loop of one stream, in either direction.
type pump struct {
	move   mover
	ready  func() bool // waits up to callTimeout until a call would move something
	block  int
	batch  batch
	pace   *pacer  // nil: as fast as it goes
	budget *Budget // nil: until stopped
	doing  string  // for errors: "sending"
	nap    func(time.Duration)
}

// run moves bytes until ctr is stopped, the budget is used up or the peer has closed (nil),
// or the connection breaks.
func (p *pump) run(ctr *Counter) error {
	start := time.Now()
	now := time.Duration(0)
	for !ctr.stopped() {
		want := p.batch.size(p.block)
		if p.pace != nil {
			if wait := p.pace.delay(now); wait > 0 {
				p.nap(wait)
				now = time.Since(start)
				continue
			}
			want = min(want, p.pace.piece)
		}
		scarce := false
		if p.budget != nil {
			if p.budget.reached() {
				return nil
			}
			want, scarce = p.claim(want)
			now = time.Since(start)
			if want == 0 {
				continue
			}
		}
		n, err := p.move(want, scarce)
		switch {
		case p.budget != nil:
			p.budget.book(ctr, want, n)
		case n > 0:
			ctr.add(n)
		}
		began := now
		now = time.Since(start)
		p.batch.learn(now-began, n == want)
		if scarce && n == 0 && now-began > longCall {
			time.Sleep(2 * time.Millisecond) // let a stream that moves have what was given back
		}
		if p.pace != nil {
			p.pace.spend(n)
		}
		if err != nil && !errors.Is(err, errAgain) {
			return p.end(err, ctr)
		}
	}
	return nil
}

// claim reserves up to want bytes of the budget for a call. 0: look again, after a wait
// that has been made already. With scarce the call must not wait.
func (p *pump) claim(want int) (n int, scarce bool) {
	scarce = p.budget.scarce()
	if scarce && !p.ready() {
		return 0, scarce
	}
	n = p.budget.reserve(want)
	if n == 0 {
		time.Sleep(time.Millisecond) // another stream is moving the rest
	}
	return n, scarce
}

// end turns the error that ended the loop into the loop's result. A connection
// that was shut down after the stop broke because we wanted it to.
func (p *pump) end(err error, ctr *Counter) error {
	if errors.Is(err, io.EOF) || ctr.stopped() {
		return nil
	}
	return fmt.Errorf("%s: %w", p.doing, err)
}
