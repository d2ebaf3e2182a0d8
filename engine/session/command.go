package session

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"linerate/engine"
)

var (
	errEnding   = errors.New("the session is ending")
	errStopped  = errors.New("traffic is stopped")
	errNoTest   = errors.New("no test is running")
	errRunning  = errors.New("traffic is running")
	errFirst    = errors.New("there is no step to go back to")
	errLimited  = errors.New("finding the best stream count needs a test without -t, -n or -k")
	errNotFlows = errors.New("wait until traffic flows")
)

// do carries out a command of the operator.
func (c *conductor) do(command engine.Command) error {
	if _, ok := command.(engine.Quit); ok {
		c.quit(time.Now())
		return nil
	}
	if c.then == leave {
		return errEnding
	}
	tried := false // a proof was, which the command cancels
	switch command.(type) {
	case engine.Prove, engine.Note, engine.StartTraffic:
	default:
		tried = c.cancelProof(settleKeys)
	}
	switch command := command.(type) {
	case engine.AddStreams:
		return c.setStreams(c.want.Streams + command.Delta)
	case engine.SetStreams:
		return c.setStreams(command.N)
	case engine.SetDirection:
		spec := c.want
		spec.Direction = command.Dir
		return c.ask(spec, "")
	case engine.SetSpec:
		return c.ask(command.Spec.Defaults(), command.Change)
	case engine.Undo:
		if tried {
			return nil
		}
		return c.undo()
	case engine.StopTraffic:
		return c.stopTraffic()
	case engine.StartTraffic:
		return c.startTraffic()
	case engine.FindBest:
		return c.findBest()
	case engine.Prove:
		return c.prove()
	case engine.Note:
		c.event("note: %s", command.Text)
		return nil
	}
	return fmt.Errorf("the session cannot do %T", command)
}

func (c *conductor) setStreams(n int) error {
	spec := c.want
	spec.Streams = n
	return c.ask(spec, "")
}

// ask notes what the operator wants. It is sent when no key has come for a while.
func (c *conductor) ask(spec engine.Spec, words string) error {
	if spec.Streams < 1 {
		return &engine.FieldError{Field: "-P", Want: "1 to 128 streams"}
	}
	if err := spec.Validate(); err != nil {
		return err
	}
	c.searchOver("cancelled")
	c.want, c.words = spec, words
	if c.stage == idle && !c.done {
		return nil // stopped: StartTraffic takes it
	}
	c.changeAt = time.Now().Add(settleKeys)
	return nil
}

// send puts what is asked into effect: now, or as soon as the change before is confirmed.
func (c *conductor) send() {
	c.changed = true
	switch {
	case c.stage == opening || c.stage == closing:
		c.queued = true
	case c.stage == idle:
		c.open(plan{spec: c.want, change: c.describe(c.works, c.want)})
	case c.want != c.spec:
		c.replace(plan{spec: c.want, change: c.describe(c.spec, c.want)})
	default:
		c.words = ""
	}
}

// replace ends the running test in favour of another one.
func (c *conductor) replace(p plan) {
	c.next, c.then = p, change
	c.stop()
}

// describe says what a change is, for the list of steps. The words of a SetSpec are
// used up by it.
func (c *conductor) describe(from, to engine.Spec) string {
	if words := c.words; words != "" {
		c.words = ""
		return words
	}
	if text := changes(from, to); text != "" {
		return text
	}
	return "again"
}

// undo asks for the spec of the last step that ran with another one.
func (c *conductor) undo() error {
	for _, seg := range slices.Backward(c.past.segments) {
		if seg.Sums != nil && !seg.Proof && seg.Spec != c.want {
			return c.ask(seg.Spec, "")
		}
	}
	return errFirst
}

func (c *conductor) stopTraffic() error {
	if c.stage == idle && c.done {
		return errNoTest
	}
	if c.stage == idle || c.then == halt {
		return errStopped
	}
	c.searchOver("cancelled")
	c.changeAt, c.queued = time.Time{}, false
	c.then = halt
	switch c.stage {
	case opening:
		c.cancel()
	case flowing:
		c.stop()
	}
	return nil
}

func (c *conductor) startTraffic() error {
	again := plan{spec: c.want, change: "traffic on"}
	if c.want != c.works {
		again.change = c.describe(c.works, c.want)
	}
	switch {
	case c.stage == idle:
		c.changeAt = time.Time{}
		c.open(again)
	case c.then == halt && c.stage == closing:
		c.next, c.then = again, change
	default:
		return errRunning
	}
	return nil
}

// quit ends the session: regularly at the first call, at once at the second.
func (c *conductor) quit(now time.Time) {
	c.searchOver("cancelled")
	c.dropProof("cancelled")
	c.changeAt, c.queued = time.Time{}, false
	if c.then == leave {
		c.interrupt()
		return
	}
	c.then = leave
	switch c.stage {
	case idle:
		c.over = true
	case opening:
		c.cancel()
	case flowing:
		c.stop()
		c.quitBy = now.Add(quitWithin)
	case closing:
		c.quitBy = now.Add(quitWithin)
	}
}

// interrupt ends the session without waiting for the server.
func (c *conductor) interrupt() {
	c.dropProof("cancelled")
	c.then, c.cutShort, c.changed = leave, true, true
	c.changeAt, c.quitBy, c.queued = time.Time{}, time.Time{}, false
	if c.stage == idle {
		c.over = true
		return
	}
	c.cancel()
}
