//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"linerate/cmd/linerate/internal/lab"
)

// A slow link: 5 Mbit/s, a round trip of 40 ms and a queue of 2 MB, over three seconds of
// the rate.
const (
	slowRate  = 5e6
	slowDelay = 20 * time.Millisecond
	slowQueue = 2 << 20
)

// slowLinks are two ways to build it: the rate in the sender's own tbf, whose queue TCP
// knows of, and in the path, whose queue it does not.
var slowLinks = []struct {
	name  string
	build func(t *testing.T) (client, server *lab.Host)
}{
	{"tbf", func(t *testing.T) (client, server *lab.Host) {
		client, server = lab.NewHost(t, "client"), lab.NewHost(t, "server")
		way := lab.Way{Delay: slowDelay, Queue: slowQueue}
		lab.NewRelay(t, client, server, 1500, way, way)
		client.Shape(t, lab.RelayDev, slowRate, slowQueue)
		server.Shape(t, lab.RelayDev, slowRate, slowQueue)
		return client, server
	}},
	{"path", func(t *testing.T) (client, server *lab.Host) {
		client, server = lab.NewHost(t, "client"), lab.NewHost(t, "server")
		way := lab.Way{Delay: slowDelay, Rate: slowRate, Queue: slowQueue}
		lab.NewRelay(t, client, server, 1500, way, way)
		return client, server
	}},
}

// On a slow link the rate we report is steady: from the third second on every interval
// lies within 20 % of the median, whoever sends and whatever the other end is. (CUBIC: BBR,
// the default here, stops for 0.2 s in every 10 to find the least RTT.)
func TestNetnsSlowLinkIsSteady(t *testing.T) {
	lab.Need(t)
	ours, _ := installed(t)
	stock := realIperf3(t)
	for _, link := range slowLinks {
		for _, c := range []struct {
			name           string
			client, server []string
			fromServer     bool // the document of the server is ours
		}{
			{"our client, stock server", []string{ours, "-c"}, []string{stock, "-s"}, false},
			{"our client and server", []string{ours, "run"}, []string{ours, "serve"}, false},
			{"stock client, our server", []string{stock, "-c"}, []string{ours, "-s", "-1", "-J"}, true},
		} {
			for _, direction := range []string{"", "-R"} {
				t.Run(link.name+"/"+c.name+direction, func(t *testing.T) {
					t.Parallel()
					inTries(t, func(t *testing.T) error {
						client, server := link.build(t)
						var theirs bytes.Buffer
						srv := exec.Command(c.server[0], append(c.server[1:], "-p", "5201")...)
						srv.Stdout = &theirs
						running := server.Background(t, srv, 5201)
						args := append(c.client[1:], server.Addr.String(), "-p", "5201", "-t", "12", "-J", "-C", "cubic")
						if direction != "" {
							args = append(args, direction)
						}
						out, err := client.Output(t.Context(), c.client[0], args...)
						if err != nil {
							t.Fatalf("client: %v\n%s", err, out)
						}
						doc := out
						if c.fromServer {
							if err := running.Wait(); err != nil {
								t.Fatalf("server: %v\n%s", err, theirs.Bytes())
							}
							doc = theirs.Bytes()
						}
						return steady(t, doc, 3)
					})
				})
			}
		}
	}
}

// inTries lets a test of times fail twice: the relay that makes the link is a program, and
// a busy machine makes it late.
func inTries(t *testing.T, try func(*testing.T) error) {
	t.Helper()
	var err error
	for n := 1; n <= 3; n++ {
		t.Run(fmt.Sprint("try", n), func(t *testing.T) {
			if err = try(t); err != nil {
				t.Log(err)
			}
		})
		if err == nil || t.Failed() {
			return
		}
	}
	t.Error(err)
}

// steady checks the intervals of an iperf3 document from a given second on.
func steady(t *testing.T, doc []byte, from int) error {
	t.Helper()
	var d struct {
		Intervals []struct {
			Sum struct {
				Seconds       float64
				BitsPerSecond float64 `json:"bits_per_second"`
			}
		}
	}
	if err := json.Unmarshal(doc, &d); err != nil {
		t.Fatalf("%v in\n%s", err, doc)
	}
	var rates []float64
	for i, v := range d.Intervals {
		if i >= from && v.Sum.Seconds > 0.5 {
			rates = append(rates, v.Sum.BitsPerSecond/1e6)
		}
	}
	if len(rates) < 8 {
		return fmt.Errorf("only %d intervals from second %d on", len(rates), from)
	}
	sorted := slices.Sorted(slices.Values(rates))
	median := sorted[len(sorted)/2]
	t.Logf("median %.2f Mbit/s of %.2f", median, rates)
	for i, r := range rates {
		if r < 0.8*median || r > 1.2*median {
			return fmt.Errorf("second %d: %.2f Mbit/s, more than 20 %% from the median %.2f", from+i, r, median)
		}
	}
	return nil
}

// On a slow link the dashboard goes to 1 Hz when it is looked at over SSH and says so, a
// live change resumes within 2 s and shows its gap, and q is back within 3 s.
func TestNetnsSlowLinkDashboard(t *testing.T) {
	lab.Need(t)
	ours, _ := installed(t)
	for _, link := range slowLinks {
		for _, server := range []struct {
			name string
			args []string
		}{
			{"stock", []string{realIperf3(t), "-s"}},
			{"ours", []string{ours, "serve"}},
		} {
			t.Run(link.name+"/"+server.name, func(t *testing.T) {
				t.Parallel()
				inTries(t, func(t *testing.T) error {
					here, there := link.build(t)
					there.Background(t, exec.Command(server.args[0], append(server.args[1:], "-p", "5201")...), 5201)
					return slowSession(t, inTmuxOn(t, here, []string{"SSH_CONNECTION=192.0.2.1 50000 192.0.2.2 22"}, 120, 40, there.Addr.String()))
				})
			})
		}
	}
}

func slowSession(t *testing.T, m *tmux) error {
	t.Helper()
	m.await("upload", holdsAll("▲ TCP ×1", "Mbit/s"))
	m.await("the slow refresh", holdsAll("1 Hz"))
	time.Sleep(3 * time.Second) // the ramp, so that queues have filled
	m.press("+")
	m.await("the second stream", holdsAll("streams 1→2"))
	gap := stepGap(t, m)
	time.Sleep(2 * time.Second)
	m.press("q")
	quit := time.Now()
	m.await("end", holdsAll("exit="))
	took := time.Since(quit)
	t.Logf("gap of the change %v, back %v after q", gap, took.Round(10*time.Millisecond))
	switch {
	case gap > 2*time.Second:
		return fmt.Errorf("the change took %v without payload, want at most 2 s", gap)
	case took > 3500*time.Millisecond: // 3 s for the results, and what the screen and tmux need to come back
		return fmt.Errorf("q took %v, want at most 3 s", took)
	}
	return nil
}

var gapText = regexp.MustCompile(`gap (\d+(?:\.\d+)?) ?(ms|s)`)

// stepGap reads the gap of the last step off the screen.
func stepGap(t *testing.T, m *tmux) time.Duration {
	t.Helper()
	screen := m.await("the gap of the change", gapText.MatchString)
	found := gapText.FindAllStringSubmatch(screen, -1)
	last := found[len(found)-1]
	d, err := time.ParseDuration(last[1] + last[2])
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// inTmuxOn starts linerate in a terminal whose programs run on a host of the lab.
func inTmuxOn(t *testing.T, h *lab.Host, env []string, cols, rows int, args ...string) *tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		gate(t, "tmux is needed: %v", err)
	}
	program, dir := installed(t)
	m := &tmux{t: t, socket: fmt.Sprintf("lr-slow-%d-%s", os.Getpid(), filepath.Base(filepath.Dir(dir))+filepath.Base(dir))}
	line := fmt.Sprintf("%s XDG_STATE_HOME=%s %s %s; echo exit=$?; sleep 600", strings.Join(quoted(env), " "), dir, program, strings.Join(args, " "))
	// The first command starts tmux's server, and what runs in it stays on this host.
	cmd := exec.Command("tmux", "-L", m.socket, "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(cols), "-y", fmt.Sprint(rows), "sh", "-c", line)
	cmd.Env = append(os.Environ(), "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "SHELL=/bin/sh")
	if err := h.Do(func() error { return cmd.Run() }); err != nil {
		t.Fatalf("tmux: %v", err)
	}
	t.Cleanup(func() { exec.Command("tmux", "-L", m.socket, "kill-server").Run() })
	return m
}

func quoted(env []string) []string {
	out := make([]string, len(env))
	for i, e := range env {
		name, value, _ := strings.Cut(e, "=")
		out[i] = name + "='" + value + "'"
	}
	return out
}
