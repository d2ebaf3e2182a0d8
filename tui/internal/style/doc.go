// Package style decides how the dashboard looks on the terminal at hand: which escape
// sequences stand for a meaning (a [Role] in a [Palette]) and which characters draw bars,
// lines and signs ([Glyphs]).
//
// tui chooses both once, from its options and the environment; panes name roles and take
// glyphs and never write an escape sequence. The package never asks the terminal anything:
// a late answer would arrive as keystrokes.
//
// Colours are blue, orange and yellow, which the common kinds of colour blindness keep
// apart, and none of them carries a meaning alone: direction has arrows, load has
// patterns, severity has a word and a sign.
package style
