package tui

import "sync"

// gate counts the calls into Source and Control that bubbletea runs in goroutines of its
// own and never waits for, so that Run can. A command that bubbletea starts after the
// program's end finds the gate shut.
type gate struct {
	mu     sync.Mutex
	closed bool
	inside sync.WaitGroup
}

// enter reports whether the caller may go on; it must leave then.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.inside.Add(1)
	return true
}

func (g *gate) leave() { g.inside.Done() }

// shut lets nobody in any more and waits for those inside.
func (g *gate) shut() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.inside.Wait()
}
