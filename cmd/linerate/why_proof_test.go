//go:build linux

package main

import (
	"os/exec"
	"strings"
	"testing"

	"linerate/cmd/linerate/internal/lab"
)

// Large frames that are lost only while both directions run are first suspected; p tests
// one direction alone, and then it is certain. It is never taken for a black hole.
func TestNetnsWhyProvenByOneWay(t *testing.T) {
	lab.Need(t)
	inTries(t, func(t *testing.T) error {
		client, server := relayed(9000, twoWayLoss(.3), twoWayLoss(0))(t)
		ours, _ := installed(t)
		server.Background(t, exec.Command(ours, "serve", "-p", "5201"), 5201)
		m := inTmuxOn(t, client, nil, 200, 60, server.Addr.String(), "--bidir", "-C", "cubic")
		m.await("suspicion", holdsAll("One direction collapses while both run", "MTU 9000"))
		m.press("p")
		m.await("the one-way test", holdsAll("upload alone"))
		m.await("certainty", holdsAll("Large frames are lost only while both directions run", "MTU 9000 itself passes"))
		screen := m.await("the proof", holdsAll("upload alone gave", "proven"))
		if strings.Contains(screen, "packets above") {
			t.Errorf("it is taken for a black hole:\n%s", screen)
		}
		m.press("q")
		m.await("end", holdsAll("exit=0"))
		return nil
	})
}
