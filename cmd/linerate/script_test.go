//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"linerate/cmd/linerate/internal/quiet"
)

// The test binary is also the program itself and a server that misbehaves, for the
// scripts in testdata and for tests that start it in a terminal.
func TestMain(m *testing.M) {
	quiet.Restore() // main does it in the program
	keepInherited()
	// Parallel tests here wait for clocks, not for cores: all are paced.
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"linerate": main,
		"crashing": crashing,
		"badpeer":  badPeer,
		"sshd":     main, // a server whose name is that of a forwarder
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			for _, name := range []string{"PORT", "PORT2"} {
				port, err := unusedPort()
				if err != nil {
					return err
				}
				env.Setenv(name, port)
			}
			env.Setenv("XDG_STATE_HOME", env.WorkDir+"/state")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":      exits,
			"waitlisten": waitListen,
			"json":       checkJSON,
			"jsonlines":  checkJSONLines,
		},
	})
}

// exits CODE PROGRAM ARGS…: run the program and compare its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARGS…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code: got %d, want %d", got, want)
	}
}

// waitlisten PORT: until somebody listens there.
func waitListen(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitlisten PORT")
	}
	ts.Check(pollPort(args[0], 20*time.Second))
}

// json FILE PATH [VALUE]: the file holds one JSON document with something at the path,
// such as end.sum_sent.bytes; with a value, exactly that.
func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: json FILE PATH [VALUE]")
	}
	var doc any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &doc); err != nil {
		ts.Fatalf("%s: %v", args[0], err)
	}
	got, found := lookUp(doc, strings.Split(args[1], "."))
	switch {
	case neg && found:
		ts.Fatalf("%s: %s is there: %v", args[0], args[1], got)
	case neg:
	case !found:
		ts.Fatalf("%s: there is no %s", args[0], args[1])
	case len(args) == 3 && fmt.Sprint(got) != args[2]:
		ts.Fatalf("%s: %s: got %v, want %s", args[0], args[1], got, args[2])
	}
}

func lookUp(doc any, path []string) (any, bool) {
	for _, key := range path {
		switch v := doc.(type) {
		case map[string]any:
			next, ok := v[key]
			if !ok {
				return nil, false
			}
			doc = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(v) {
				return nil, false
			}
			doc = v[i]
		default:
			return nil, false
		}
	}
	return doc, true
}

// jsonlines FILE EVENT…: every line is one JSON object; their events are these in order,
// where EVENT* stands for one or more.
func checkJSONLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: jsonlines FILE EVENT…")
	}
	var events []string
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var e struct {
			Event string
			Data  json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Event == "" || e.Data == nil {
			ts.Fatalf("%s: not an event: %q (%v)", args[0], line, err)
		}
		events = append(events, e.Event)
	}
	rest := events
	for _, want := range args[1:] {
		name, several := strings.CutSuffix(want, "*")
		n := 0
		for len(rest) > 0 && rest[0] == name && (n == 0 || several) {
			rest = rest[1:]
			n++
		}
		if n == 0 {
			ts.Fatalf("%s: events %v: want %v", args[0], events, args[1:])
		}
	}
	if len(rest) > 0 {
		ts.Fatalf("%s: events %v: want %v", args[0], events, args[1:])
	}
}

// gate skips a test that lacks a tool, or fails it where the gate runs.
func gate(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("LINERATE_GATE") == "1" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}
