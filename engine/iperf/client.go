package iperf

import (
	"context"
	"sync"

	"linerate/engine"
	"linerate/engine/internal/wire"
)

// Client is a running test seen from the client.
type Client struct {
	ctl      *control
	far      *farEnd
	traffic  *traffic
	sink     engine.Sink
	stopped  chan struct{} // closed by Stop
	stopOnce sync.Once
}

// Dial resolves the server's name, connects to its addresses side by side, negotiates
// the test and opens its streams. It returns when the server has said TEST_RUNNING and
// the payload flows; Run must then be called. Errors are of type *Error, or a
// *engine.FieldError for a spec that cannot be run.
func Dial(ctx context.Context, spec engine.Spec, opt Options) (*Client, error) {
	spec, err := prepare(spec)
	if err != nil {
		return nil, err
	}
	r, err := resolve(ctx, spec, opt.Addr)
	if err != nil {
		return nil, err
	}
	return dial(ctx, r, spec, opt)
}

func dial(ctx context.Context, nw network, spec engine.Spec, opt Options) (*Client, error) {
	h := &handshake{nw: nw, spec: spec, opt: opt, cookie: wire.NewCookie()}
	return h.run(ctx)
}

// Info is the test as negotiated. Control.Remote is the address that answered: for
// Options.Addr of later tests.
func (c *Client) Info() engine.TestInfo { return c.traffic.info }

// Stop asks for a regular end: payload stops, results are exchanged within three
// seconds. It returns at once and may be called from any goroutine, more than once.
func (c *Client) Stop() { c.stopOnce.Do(func() { close(c.stopped) }) }

// Sample appends the streams' counters to dst. It takes no lock that a loop could hold;
// any goroutine may call it, also after Run has returned.
func (c *Client) Sample(dst []engine.Counters) []engine.Counters { return c.traffic.sample(dst) }

// Far gives the newest of what the server tells about its end; false as long as it is not
// known to be linerate. Any goroutine may call it, also after Run has returned.
func (c *Client) Far() (engine.FarEnd, bool) { return c.far.newest() }
