//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/engine/report/reporttest"
)

// realIperf3 finds iperf3 3.18, whose output ours must equal.
func realIperf3(t *testing.T) string {
	t.Helper()
	path := os.Getenv("LINERATE_IPERF3_318")
	if path == "" {
		path = "/opt/iperf3-3.18/iperf3"
	}
	if _, err := os.Stat(path); err != nil {
		gate(t, "iperf3 3.18 is needed to compare with: %v", err)
	}
	return path
}

// shapes are the tests whose output is compared, as client and as server. All are paced, so
// that several can run on a small machine and intervals are whole.
var shapes = []struct {
	name  string
	flags string
}{
	{"upload", "-t 2 -b 20M"},
	{"download", "-t 2 -b 20M -R"},
	{"both ways", "-t 2 -b 20M --bidir"},
	{"two streams", "-t 2 -b 10M -P 2"},
	{"two streams down", "-t 2 -b 10M -P 2 -R"},
	{"two streams both ways", "-t 2 -b 10M -P 2 --bidir"},
	{"omit", "-t 2 -b 20M -O 1"},
	{"omit, two streams down", "-t 2 -b 10M -O 1 -P 2 -R"},
	{"megabits", "-t 2 -b 20M -f m"},
	{"no intervals", "-t 1 -b 20M -i 0"},
	{"title", "-t 1 -b 20M -T lab"},
	{"verbose", "-t 1 -b 20M -V"},
	{"verbose, both ways", "-t 1 -b 10M -V --bidir"},
	{"server's output", "-t 1 -b 20M --get-server-output"},
	{"json", "-t 2 -b 20M -J"},
	{"json, down", "-t 1 -b 20M -J -R"},
	{"json, both ways", "-t 1 -b 10M -J --bidir -P 2"},
	{"json stream", "-t 2 -b 20M --json-stream"},
}

// dialogue runs one test of a client against a server for it alone and gives both outputs.
func dialogue(t *testing.T, server, client func(ctx context.Context, args ...string) *exec.Cmd, flags string) (clientOut, serverOut string) {
	t.Helper()
	port := freePort(t)
	serverFlags := []string{"-s", "-1", "-p", port}
	words := strings.Fields(flags)
	for _, shared := range []string{"-V", "-J"} {
		for _, w := range words {
			if w == shared {
				serverFlags = append(serverFlags, shared)
			}
		}
	}
	s := start(t, server(t.Context(), serverFlags...))
	awaitPort(t, port)
	c := start(t, client(t.Context(), append([]string{"-c", "127.0.0.1", "-p", port}, words...)...))
	if code := c.end(t); code != 0 {
		t.Fatalf("client's exit code: %d\n%s%s", code, c.out, c.err)
	}
	if code := s.end(t); code != 0 {
		t.Fatalf("server's exit code: %d\n%s%s", code, s.out, s.err)
	}
	for _, p := range []*process{c, s} {
		if p.err.String() != "" {
			t.Errorf("%v printed on stderr: %s", p.Args, p.err)
		}
	}
	return c.out.String(), s.out.String()
}

// TestSameOutputAsIperf3 compares whole outputs, to the character but for the digits of
// what two runs measure. The far end is real iperf3 each time.
func TestSameOutputAsIperf3(t *testing.T) {
	path := realIperf3(t)
	theirs := func(ctx context.Context, args ...string) *exec.Cmd { return exec.CommandContext(ctx, path, args...) }
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			t.Parallel()
			wantClient, wantServer := dialogue(t, theirs, theirs, shape.flags)
			gotClient, _ := dialogue(t, theirs, linerate, shape.flags)
			_, gotServer := dialogue(t, linerate, theirs, shape.flags)
			if diff := cmp.Diff(printed(wantClient), printed(gotClient)); diff != "" {
				t.Errorf("client's output (-iperf3 +linerate):\n%s", diff)
			}
			if strings.HasPrefix(wantServer, "{") {
				// iperf3 prints it before it has the client's results; ours has them.
				if missing := lacking(t, wantServer, gotServer); len(missing) > 0 {
					t.Errorf("the server's JSON lacks what iperf3's has: %v", missing)
				}
				return
			}
			if diff := cmp.Diff(printed(wantServer), printed(gotServer)); diff != "" {
				t.Errorf("server's output (-iperf3 +linerate):\n%s", diff)
			}
		})
	}
}

// printed masks the digits and leaves out a last interval of less than half a second: whether a
// sender still gets some bytes out then is up to the scheduler, with iperf3 too.
func printed(output string) string {
	var kept []string
	for line := range strings.Lines(output) {
		if m := spans.FindStringSubmatch(line); m != nil && !strings.Contains(line, "er\n") {
			var from, to float64
			if _, err := fmt.Sscan(m[1], &from); err != nil {
				panic(err)
			}
			if _, err := fmt.Sscan(m[2], &to); err != nil {
				panic(err)
			}
			if to-from < 0.5 {
				continue
			}
		}
		if n := len(kept); strings.HasPrefix(line, "- - ") && n > 0 && kept[n-1] == line {
			continue // it stood between the last interval and the one left out
		}
		kept = append(kept, line)
	}
	return reporttest.Mask(strings.Join(kept, ""))
}

var spans = regexp.MustCompile(`^\[[ \dSUM]{3}\]\S* +(\d+\.\d\d)-(\d+\.\d\d) +sec `)

// lacking lists what one JSON document has and another has not, as paths of keys.
func lacking(t *testing.T, want, got string) (missing []string) {
	t.Helper()
	has := keys(t, got)
	for path := range keys(t, want) {
		if !has[path] {
			missing = append(missing, path)
		}
	}
	slices.Sort(missing)
	return missing
}

func keys(t *testing.T, text string) map[string]bool {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	found := map[string]bool{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		found[path] = true
		switch v := v.(type) {
		case map[string]any:
			for key, inner := range v {
				walk(path+"."+key, inner)
			}
		case []any:
			for _, inner := range v {
				walk(path+"[]", inner)
			}
		}
	}
	walk("", doc)
	return found
}

// TestSameErrorsAsIperf3 compares what a script sees when nothing can be measured.
func TestSameErrorsAsIperf3(t *testing.T) {
	path := realIperf3(t)
	port := freePort(t)
	for _, line := range []string{
		"-c 127.0.0.1 -p " + port,
		"-c 127.0.0.1 -p " + port + " -J",
		"-c 127.0.0.1 -p " + port + " --json-stream",
		"-c 127.0.0.1 -P 129",
		"-c 127.0.0.1 -p 0",
		"-c 127.0.0.1 -R --bidir",
		"-c 127.0.0.1 -t 5 -n 1M",
		"-c 127.0.0.1 -O 601",
		"-c 127.0.0.1 -i 61",
		"-c 127.0.0.1 -l 2M",
		"-c 127.0.0.1 -w 600M",
		"-c 127.0.0.1 -S 256",
		"-c 127.0.0.1 -f x",
		"-s -R",
		"-s -c 127.0.0.1",
	} {
		t.Run(line, func(t *testing.T) {
			want, got := exec.CommandContext(t.Context(), path, strings.Fields(line)...), linerate(t.Context(), strings.Fields(line)...)
			wantOut, wantErr, wantCode := outcome(t, want)
			gotOut, gotErr, gotCode := outcome(t, got)
			if gotCode != wantCode {
				t.Errorf("exit code: got %d, want %d", gotCode, wantCode)
			}
			if diff := cmp.Diff(reporttest.Mask(wantOut), reporttest.Mask(gotOut)); diff != "" {
				t.Errorf("stdout (-iperf3 +linerate):\n%s", diff)
			}
			// iperf3's usage lines and our hints may follow the first line.
			if w, g := firstLine(wantErr), firstLine(gotErr); w != g {
				t.Errorf("stderr: got %q, want %q", g, w)
			}
		})
	}
}

func outcome(t *testing.T, cmd *exec.Cmd) (out, errs string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// Two stock clients at once on one server of ours, which a stock server refuses.
func TestTwoStockClients(t *testing.T) {
	path := realIperf3(t)
	port, server := serve(t)
	var clients []*process
	for _, flags := range []string{"-P 2", "-R"} {
		args := append([]string{"-c", "127.0.0.1", "-p", port, "-t", "2", "-b", "20M"}, strings.Fields(flags)...)
		clients = append(clients, start(t, exec.CommandContext(t.Context(), path, args...)))
	}
	for _, c := range clients {
		if code := c.end(t); code != 0 {
			t.Errorf("%v: exit code %d\n%s%s", c.Args, code, c.out, c.err)
		}
	}
	server.Process.Signal(syscall.SIGINT)
	server.end(t)
	for _, want := range []string{"upload received", "download"} {
		if !strings.Contains(server.out.String(), want) {
			t.Errorf("the server's log has no %q:\n%s", want, server.out)
		}
	}
}
