//go:build linux

package main

import (
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"linerate/engine/report/reporttest"
)

// TestManual runs every "$ linerate …" of the package comment and compares what it prints
// with what stands below. The manual's addresses stand for a server on this computer.
func TestManual(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	port, _ := serve(t)
	examples := manualExamples(file.Doc.Text())
	if len(examples) < 2 {
		t.Fatalf("the manual has %d examples, want at least 2", len(examples))
	}
	for _, e := range examples {
		t.Run(e.line, func(t *testing.T) {
			args := strings.Fields(strings.ReplaceAll(e.line, "192.0.2.7", "127.0.0.1"))[1:]
			args = append(args, "-p", port)
			if strings.Contains(e.line, "run") {
				args = append(args, "-b", "20M")
			}
			out, errs, _ := outcome(t, linerate(t.Context(), args...))
			if diff := cmp.Diff(anonymous(e.output), anonymous(out+errs)); diff != "" {
				t.Errorf("printed (-manual +linerate):\n%s", diff)
			}
		})
	}
}

// example is one command of the manual with the output shown for it.
type example struct{ line, output string }

func manualExamples(manual string) (found []example) {
	var current *example
	for line := range strings.Lines(manual) {
		text, indented := strings.CutPrefix(line, "\t")
		command, begins := strings.CutPrefix(text, "$ ")
		switch {
		case indented && begins:
			found = append(found, example{line: strings.TrimSpace(command)})
			current = &found[len(found)-1]
		case current != nil && (indented || strings.TrimSpace(line) == ""):
			current.output += text
		default:
			current = nil
		}
	}
	return found
}

var (
	addresses = regexp.MustCompile(`\d+\.\d+\.\d+\.\d+`)
	verdict   = regexp.MustCompile(`(?m)^(upload|download|both ways): .*(\n(upload: |download: |both ways: | {8}).*)*`)
	trailing  = regexp.MustCompile(`(?m) +$`)
)

// anonymous leaves out what differs between two runs, and blanks at the ends of lines,
// which gofmt takes from comments.
func anonymous(s string) string {
	s = verdict.ReplaceAllString(s, "$1: <what the rules say>")
	s = addresses.ReplaceAllString(reporttest.Mask(s), "<address>")
	return strings.TrimSpace(trailing.ReplaceAllString(s, ""))
}
