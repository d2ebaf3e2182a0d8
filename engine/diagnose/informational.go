package diagnose

import (
	"time"

	"linerate/engine"
)

func measuringFinding(e *Evidence, dir engine.Direction, at time.Duration) engine.Finding {
	return engine.Finding{Code: Measuring, Dir: dir, Core: -1, Since: at}
}
