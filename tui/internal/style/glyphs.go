package style

// Glyphs are the characters of one way to draw. Every one of them is one cell wide.
type Glyphs struct {
	ASCII   bool
	Braille bool // strips with two samples a cell

	Levels [9]rune // from nothing to full, for strips, trails and heat cells
	Zero   rune    // a sample that is known to be zero, where a blank would read as no sample

	// A core's time, and the share bars of the streams.
	User, System, IRQ, SoftIRQ, Steal, Idle rune
	Bar                                     rune

	// The graph: marks and lines around what asciigraph draws.
	Mark, Tick, Axis, Corner, Wall, Dash rune

	// Frames.
	Horizontal, Vertical, TopLeft, TopRight, BottomLeft, BottomRight rune

	Up, Down, Both, Run, Frozen, Edge, Cursor, Own, Sum, Delta, Times, Ellipsis, To string
}

// Block draws with box lines and eighth blocks, which every common font has.
var Block = Glyphs{
	Levels: [...]rune{' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'}, Zero: '·',
	User: '░', System: '▒', IRQ: '▓', SoftIRQ: '█', Steal: 'S', Idle: '·', Bar: '█',
	Mark: '┊', Tick: '┴', Axis: '─', Corner: '└', Wall: '┤', Dash: '╌',
	Horizontal: '─', Vertical: '│', TopLeft: '╭', TopRight: '╮', BottomLeft: '╰', BottomRight: '╯',
	Up: "▲", Down: "▼", Both: "▲▼", Run: "●", Frozen: "❚❚", Edge: "▌", Cursor: "▸", Own: "◂",
	Sum: "Σ", Delta: "Δ", Times: "×", Ellipsis: "…", To: "→",
}

// Braille is Block with finer strips; some fonts lack it, so it is never chosen unasked.
var Braille = func() Glyphs {
	g := Block
	g.Braille = true
	return g
}()

// ASCII draws with 7-bit characters only.
var ASCII = Glyphs{
	ASCII:  true,
	Levels: [...]rune{' ', '.', ':', '-', '=', '+', '*', '#', '@'}, Zero: '_',
	User: 'u', System: 's', IRQ: 'i', SoftIRQ: 'Q', Steal: 'S', Idle: '.', Bar: '#',
	Mark: ':', Tick: '+', Axis: '-', Corner: '+', Wall: '|', Dash: '-',
	Horizontal: '-', Vertical: '|', TopLeft: '+', TopRight: '+', BottomLeft: '+', BottomRight: '+',
	Up: "^", Down: "v", Both: "^v", Run: "*", Frozen: "||", Edge: "|", Cursor: ">", Own: "<",
	Sum: "SUM", Delta: "d", Times: "x", Ellipsis: "..", To: "->",
}

// Narrow reports whether every terminal draws r one cell wide (East Asian locales
// excepted, which get ASCII). What else a peer or a file may send is not shown.
func Narrow(r rune) bool {
	switch {
	case r >= 0x20 && r < 0x7f, r >= 0xa1 && r <= 0x24f && r != 0xad:
		return true
	case r >= 0x370 && r <= 0x3ff, r >= 0x400 && r <= 0x482, r >= 0x48a && r <= 0x52f: // Greek, Cyrillic
		return r != 0x378 && r != 0x379
	case r >= 0x2010 && r <= 0x2027, r >= 0x2030 && r <= 0x205e, r >= 0x20a0 && r <= 0x20bf: // dashes, quotes, currencies
		return true
	case r >= 0x2070 && r <= 0x209c, r >= 0x2190 && r <= 0x21ff, r >= 0x2200 && r <= 0x22ff: // indices, arrows, mathematics
		return true
	case r >= 0x2460 && r <= 0x2473, r >= 0x2500 && r <= 0x25fc, r == 0x275a: // ①–⑳, boxes, blocks, shapes, ❚
		return true
	case r >= 0x2800 && r <= 0x28ff: // braille
		return true
	}
	return false
}

// spelled are the characters of the program's own sentences in 7 bits.
var spelled = map[rune]string{
	'…': "..", '–': "-", '—': "-", '−': "-", '×': "x", '→': "->", '←': "<-", '↑': "^", '↓': "v",
	'Δ': "d", 'Σ': "SUM", '≥': ">=", '≤': "<=", '±': "+-", '≈': "~", 'µ': "u", 'μ': "u", '·': ".",
	'•': "*", '’': "'", '‘': "'", '“': "\"", '”': "\"", '▲': "^", '▼': "v", '●': "*", '▸': ">",
	'◂': "<", '²': "2", '³': "3", '°': "deg", '÷': "/", '█': "#", '░': "u", '▒': "s", '▓': "i",
}

// Spell gives r in 7 bits, "?" when there is no spelling.
func Spell(r rune) string {
	if s, ok := spelled[r]; ok {
		return s
	}
	if n := r - '①'; n >= 0 && n < 20 {
		return circled[n]
	}
	return "?"
}

var circled = [20]string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10",
	"11", "12", "13", "14", "15", "16", "17", "18", "19", "20"}

// Level is the bar for a value out of top: Zero for nothing, else at least the lowest.
func (g *Glyphs) Level(v, top float64) rune {
	if !(v > 0) || !(top > 0) {
		return g.Zero
	}
	n := len(g.Levels) - 1
	return g.Levels[min(n, max(1, int(v/top*float64(n)+0.5)))]
}
