//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/cmd/linerate/internal/lab"
)

// The tests of why_*_test.go build paths and computers that are wrong in one known way and
// read what `linerate run` says about it. They come last in this package, when other
// packages' tests have mostly ended: cores are part of what is judged.

// told is what a run says about why it was as fast as it was.
type told struct {
	findings []finding
	mbps     float64 // what the receivers got
}

// finding is one entry of .linerate.findings[].
type finding struct {
	Code, Title, Text, Severity, Confidence, Side, Direction string
	Evidence                                                 []struct {
		Name, Unit, Side string
		Value, Age       float64
	}
}

func (f finding) String() string {
	return fmt.Sprintf("%s: %s %s (%s, %s): %s", f.Direction, f.Severity, f.Code, f.Confidence, f.Side, f.Text)
}

// number gives a number that the finding rests on.
func (f finding) number(name string) (value float64, ok bool) {
	for _, e := range f.Evidence {
		if e.Name == name {
			return e.Value, true
		}
	}
	return 0, false
}

func (o told) String() string {
	lines := []string{fmt.Sprintf("%.4g Mbit/s", o.mbps)}
	for _, f := range o.findings {
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n\t")
}

// verdict is the first finding.
func (o told) verdict() finding {
	if len(o.findings) == 0 {
		return finding{Text: "no findings"}
	}
	return o.findings[0]
}

// trial is one way to be wrong.
type trial struct {
	name  string
	build func(t *testing.T) (client, server *lab.Host)
	// serving is told about the server's program once it runs; may be nil.
	serving func(t *testing.T, server *lab.Program)
	flags   string

	want  string   // code of the verdict, or several; "" any
	side  string   // of the verdict; "" any
	says  []string // what its text must hold
	never []string // codes that must not be among the findings
	also  func(told) error
}

// run makes the network, starts a server of ours and gives a function that runs the client
// and may be called by any goroutine.
func (c trial) run(t *testing.T) func(context.Context) (told, error) {
	t.Helper()
	ours, _ := installed(t)
	client, server := c.build(t)
	p := server.Background(t, exec.Command(ours, "serve", "-p", "5201"), 5201)
	if c.serving != nil {
		c.serving(t, p)
	}
	args := append([]string{"run", server.Addr.String(), "-p", "5201", "--json"}, strings.Fields(c.flags)...)
	return func(ctx context.Context) (told, error) {
		out, err := client.Output(ctx, ours, args...)
		if err != nil {
			return told{}, fmt.Errorf("linerate %s: %w\n%s", c.flags, err, out)
		}
		return parseTold(out)
	}
}

func parseTold(document []byte) (told, error) {
	var doc struct {
		Linerate struct{ Findings []finding }
		End      struct {
			Sum struct {
				BitsPerSecond float64 `json:"bits_per_second"`
			} `json:"sum_received"`
		}
	}
	if err := json.Unmarshal(document, &doc); err != nil {
		return told{}, fmt.Errorf("%w in\n%s", err, document)
	}
	return told{doc.Linerate.Findings, doc.End.Sum.BitsPerSecond / 1e6}, nil
}

// judge compares what was told with what had to be.
func (c trial) judge(got told) error {
	v := got.verdict()
	switch {
	case c.want != "" && !slices.Contains(strings.Fields(c.want), v.Code):
		return fmt.Errorf("the verdict is %s, want %s:\n\t%v", v.Code, c.want, got)
	case c.side != "" && v.Side != c.side:
		return fmt.Errorf("the verdict blames the %s side, want %s:\n\t%v", v.Side, c.side, got)
	}
	for _, words := range c.says {
		if !strings.Contains(v.Text, words) {
			return fmt.Errorf("the verdict does not say %q:\n\t%v", words, got)
		}
	}
	for _, f := range got.findings {
		if slices.Contains(c.never, f.Code) {
			return fmt.Errorf("%s is found as well:\n\t%v", f.Code, got)
		}
	}
	if c.also != nil {
		if err := c.also(got); err != nil {
			return fmt.Errorf("%w:\n\t%v", err, got)
		}
	}
	return nil
}

// longest is more than any run takes.
const longest = time.Minute

// ran is how a run went.
type ran struct {
	got told
	err error
}

// review tells what a run said and judges it.
func (c trial) review(t *testing.T, o ran) error {
	t.Helper()
	if o.err != nil {
		return o.err
	}
	t.Log(o.got)
	return c.judge(o.got)
}

func (c trial) try(t *testing.T) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), longest)
	defer cancel()
	got, err := c.run(t)(ctx)
	return c.review(t, ran{got, err})
}

// atOnce trials run beside each other: a relay of 50 Mbit/s takes a twentieth of a core.
const atOnce = 5

// together runs trials that hardly need the cores, several at once. Their networks stay
// until the end of t.
func together(t *testing.T, trials []trial) []ran {
	t.Helper()
	outcomes := make([]ran, len(trials))
	free := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i, c := range trials {
		run := c.run(t)
		wg.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			ctx, cancel := context.WithTimeout(t.Context(), longest)
			defer cancel()
			outcomes[i].got, outcomes[i].err = run(ctx)
		})
	}
	wg.Wait()
	return outcomes
}

// cables joins two hosts directly.
func cables(t *testing.T) (client, server *lab.Host) {
	client, server = lab.NewHost(t, "client"), lab.NewHost(t, "server")
	lab.Join(t, client, server, lab.Cable{})
	return client, server
}

// shaped gives a function that joins two hosts directly and limits what the client sends.
func shaped(rate float64) func(t *testing.T) (client, server *lab.Host) {
	return func(t *testing.T) (client, server *lab.Host) {
		client, server = cables(t)
		client.Shape(t, "eth0", rate, 1<<20)
		return client, server
	}
}

// relayed gives a function that joins two hosts by a relay with these ways.
func relayed(mtu int, there, back lab.Way, edits ...func(t *testing.T, client, server *lab.Host)) func(t *testing.T) (client, server *lab.Host) {
	return func(t *testing.T) (client, server *lab.Host) {
		client, server = lab.NewHost(t, "client"), lab.NewHost(t, "server")
		lab.NewRelay(t, client, server, mtu, there, back)
		for _, edit := range edits {
			edit(t, client, server)
		}
		return client, server
	}
}
