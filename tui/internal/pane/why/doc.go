// Package why writes the reasoning behind the verdicts: every finding that holds, the
// numbers it rests on, whose they are and how old, what can be done about it, what would
// prove it and what a proof has shown; then what was checked and ruled out, and what could
// not be seen and why. tui shows it as a text view when the operator asks.
package why
