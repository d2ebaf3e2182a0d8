// Package keyboard reads single keys from a terminal and leaves the terminal's signals
// alone: Ctrl-C and Ctrl-Z do what they always do.
//
// cmd/linerate uses it where lines are printed and a key should work without Enter. The
// dashboard has its own input. It never takes over the screen.
package keyboard

import "sync"

// Keyboard is a terminal that hands over every key at once, without echo.
type Keyboard struct {
	keys    chan byte
	stop    chan struct{}
	ended   sync.WaitGroup
	restore func()
}

// Keys gives the bytes of the keys as they are typed. Those that nobody takes are lost.
func (k *Keyboard) Keys() <-chan byte { return k.keys }

// Close gives the terminal its settings back and waits for the reading goroutine.
func (k *Keyboard) Close() {
	close(k.stop)
	k.ended.Wait()
	k.restore()
}

// hand passes a key on, if somebody waits for it.
func (k *Keyboard) hand(key byte) {
	select {
	case k.keys <- key:
	default:
	}
}
