//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"linerate/cmd/linerate/internal/lab"
)

// Whoever has asked need not wait for the answer.
func TestDoctorEndsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	var out, errs bytes.Buffer
	code := run(ctx, []string{"doctor", "--json"}, strings.NewReader(""), &out, &errs)
	if code != exitInterrupted || out.Len() > 0 || errs.Len() > 0 {
		t.Errorf("exit code %d, printed %q and %q, want %d and nothing", code, &out, &errs, exitInterrupted)
	}
}

// Two hosts 40 ms apart whose path drops what is larger than 4074 bytes, while both have an
// MTU of 9000: known without a byte of traffic, and without a server at the far end.
func TestNetnsDoctorSeesTheBlackHole(t *testing.T) {
	lab.Need(t)
	near, far := lab.NewHost(t, "near"), lab.NewHost(t, "far")
	way := lab.Way{Delay: 20 * time.Millisecond, MaxPacket: 4074}
	lab.NewRelay(t, near, far, 9000, way, way)
	program, _ := installed(t)
	out, err := near.Output(t.Context(), program, "doctor", far.Addr.String(), "--json")
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var doc struct {
		Target struct {
			MTU struct {
				Out       struct{ Value int }
				BlackHole bool `json:"black_hole"`
			}
			RTT struct{ Idle struct{ Value time.Duration } }
		}
		Findings   []struct{ Code, Text string }
		Interfaces []struct {
			NIC struct{ Value struct{ Name string } }
		}
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatalf("%v in\n%s", err, out)
	}
	named := false
	for _, f := range doc.Findings {
		named = named || f.Code == "R43" && strings.Contains(f.Text, "4074")
	}
	if !named {
		t.Errorf("findings %v, want R43 that names 4074", doc.Findings)
	}
	if p := doc.Target; p.MTU.Out.Value != 4074 || !p.MTU.BlackHole || p.RTT.Idle.Value < 40*time.Millisecond {
		t.Errorf("path %+v, want 4074 bytes and 40 ms", p)
	}
	if len(doc.Interfaces) != 1 || doc.Interfaces[0].NIC.Value.Name != lab.RelayDev {
		t.Errorf("interfaces %+v, want the one to the host", doc.Interfaces)
	}
}
