// Package why writes the reasoning behind the verdicts: every finding that holds, the
// numbers it rests on, whose they are and how old, what can be done about it and what
// would prove it. tui shows it as a text view when the operator asks.
package why
