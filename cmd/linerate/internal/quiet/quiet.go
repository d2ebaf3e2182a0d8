// Package quiet keeps the program from asking the terminal anything before main runs.
//
// bubbletea v1 asks the terminal for its background colour while Go initialises
// packages, and waits five seconds for an answer, so that even "linerate version" would
// hang in a terminal that never answers (a CI pty, ssh -tt from a script, some web
// terminals). termenv does not ask when CI is set: this package sets it during
// initialisation, and main puts it back with Restore.
//
// It works because Go initialises packages in the order of their import paths as soon
// as everything they import is ready: quiet needs only os, bubbletea needs much of the
// standard library that sorts after it. cmd/linerate imports it first, for the reader;
// the test that starts the program in a mute terminal keeps the order true.
//
// Only cmd/linerate uses it. It never touches the terminal.
package quiet

import "os"

// value and set are CI as the user had it. They belong to the process, as its
// environment does.
var value, set = os.LookupEnv("CI")

func init() { os.Setenv("CI", "1") }

// Restore gives the environment back as it was found. main calls it before anything
// that asks for the terminal's colours or starts another process.
func Restore() {
	if set {
		os.Setenv("CI", value)
		return
	}
	os.Unsetenv("CI")
}
