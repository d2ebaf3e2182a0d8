package diagnose

import (
	"fmt"

	"linerate/engine"
	"linerate/engine/unit"
)

// Line rate is reached from 98.5 % of the ceiling on: 9.41 of 9.415 Gbit/s is what a good
// 10G link with MTU 1500 shows, and 9.31 is usual with a little loss. A rate more than
// 2 % above it says that the ceiling is wrong, not that the link is fast.
const (
	atCeiling    = 0.985
	aboveCeiling = 1.02
	jumboMTU     = 9000
)

// lineRate (R09): the goodput is all that the link leaves for payload.
func lineRate(e *Evidence, dir engine.Direction) ruling {
	g, ok := e.flow(dir).Rate.Get()
	if !ok {
		return unseen("rate: " + e.flow(dir).Rate.Why())
	}
	roof, side := e.roof()
	c, ok := roof.Get()
	if !ok {
		return unseen("line speed: " + roof.Why())
	}
	possible := ofRate(g, c.Bps)
	switch {
	case g < atCeiling*c.Bps:
		return no(possible + " possible")
	case g > aboveCeiling*c.Bps:
		return no(possible + " possible: the line speed that the interface claims cannot be true")
	}
	whose := ""
	if side == engine.Far {
		whose = " of the far link"
	}
	text := fmt.Sprintf("Line rate%s: %s possible with MTU %d", whose, possible, c.Framing.MTU)
	f := engine.Finding{
		Severity: engine.SeverityOK, Confidence: engine.Sure, Side: engine.Path, Core: -1,
		Short: "line rate: " + ofRate(g, c.Bps),
		Proof: engine.ProofAddStream,
		Evidence: e.from(dir,
			engine.Evidence{Name: "goodput possible", Value: c.Bps, Unit: "bit/s", Side: engine.Path},
			engine.Evidence{Name: "line speed", Value: c.LinkBps, Unit: "bit/s", Side: engine.Path},
			engine.Evidence{Name: "MTU", Value: float64(c.Framing.MTU), Unit: "B", Side: engine.Path}),
	}
	switch {
	case c.Simulated:
		text += " on the simulated link."
	case c.Framing.MTU < jumboMTU:
		jumbo := c.with(jumboMTU)
		text += fmt.Sprintf("; MTU %d would allow %s.", jumboMTU, unit.Rate(jumbo.Bps))
		f.Remedy = []engine.Remedy{{Text: fmt.Sprintf(
			"MTU %d on both ends and every switch between them gives %s more; it is worth it where the cores are nearly full.",
			jumboMTU, percent(jumbo.Bps/c.Bps-1))}}
	default:
		text += "."
	}
	f.Text = text
	return holds(f)
}
