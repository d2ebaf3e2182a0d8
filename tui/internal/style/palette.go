package style

import (
	"fmt"
	"strconv"
)

// Role is what a cell means; the palette says how that looks.
type Role uint8

const (
	Plain    Role = iota
	Dim           // units, axes, what is secondary
	Bold          // numbers that matter
	Title         // of a panel
	Frame         // lines around panels
	Key           // a key that works now
	Up            // upload
	Down          // download
	Band          // between least and greatest value of a column
	Mark          // where a step begins
	Ceiling       // the rate the link allows
	OK            // severities
	Limit         //
	Warning       //
	Fault         //
	User          // parts of a core's time
	System        //
	IRQ           //
	SoftIRQ       //
	Steal         //
	Idle          //
	Selected      // the row under the cursor
	Notice        // what must not be overlooked: FROZEN, a simulated link, a question

	roles = iota
)

// Profile is how much the terminal can show.
type Profile uint8

const (
	Bare     Profile = iota // no escape sequence at all
	Mono                    // bold, dim, reverse, no colour
	Basic                   // the terminal's own 16 colours
	Extended                // 256
	True                    // 24 bit
)

var profileNames = [...]string{"bare", "mono", "16", "256", "true"}

func (p Profile) String() string { return profileNames[min(int(p), len(profileNames)-1)] }

// Theme is the terminal's background, as far as it is known.
type Theme uint8

const (
	Dark Theme = iota
	Light
)

// Palette holds the escape sequence that switches to each role, whatever was set before.
// Of a Bare palette all are empty.
type Palette struct {
	Profile Profile
	sgr     [roles]string
}

// SGR gives the sequence that switches to a role.
func (p *Palette) SGR(r Role) string { return p.sgr[r] }

// Inked reports whether a blank cell of the role is visible.
func Inked(r Role) bool { return r == Selected || r == Notice }

// paint is one role: attributes, and per profile a foreground. Colour 0 is the
// terminal's own foreground.
type paint struct {
	attr        string
	basic       int // SGR 30–37, 90–97
	dark, light rgb
}

type rgb uint32

// The blues and oranges have middling lightness, so that a wrong guess of the background
// stays readable.
var paints = [roles]paint{
	Plain:    {},
	Dim:      {basic: 90, dark: 0x8a8a8a, light: 0x6c6c6c},
	Bold:     {attr: "1"},
	Title:    {attr: "1"},
	Frame:    {basic: 90, dark: 0x6c6c6c, light: 0x9e9e9e},
	Key:      {attr: "1", basic: 36, dark: 0x5fafd7, light: 0x005f87},
	Up:       {basic: 94, dark: 0x5fafff, light: 0x005fd7},
	Down:     {basic: 33, dark: 0xffaf00, light: 0xaf5f00},
	Band:     {basic: 90, dark: 0x767676, light: 0x8a8a8a},
	Mark:     {attr: "1", basic: 36, dark: 0x87d7d7, light: 0x008787},
	Ceiling:  {basic: 36, dark: 0x5f8787, light: 0x5f8787},
	OK:       {attr: "1", basic: 94, dark: 0x5fafff, light: 0x005fd7},
	Limit:    {attr: "1", basic: 33, dark: 0xffaf00, light: 0xaf5f00},
	Warning:  {attr: "1", basic: 33, dark: 0xff8700, light: 0xaf5f00},
	Fault:    {attr: "1;7", basic: 33, dark: 0xff8700, light: 0xaf5f00},
	User:     {basic: 94, dark: 0x5fafff, light: 0x005fd7},
	System:   {basic: 36, dark: 0x87d7d7, light: 0x008787},
	IRQ:      {basic: 93, dark: 0xffd75f, light: 0x878700},
	SoftIRQ:  {basic: 33, dark: 0xff8700, light: 0xd75f00},
	Steal:    {attr: "7"},
	Idle:     {basic: 90, dark: 0x585858, light: 0xbcbcbc},
	Selected: {attr: "7"},
	Notice:   {attr: "1;7"},
}

// mono replaces the paints where there is no colour: dim keeps the secondary back.
var mono = [roles]string{
	Dim: "2", Frame: "2", Band: "2", Idle: "2", Ceiling: "2",
	Bold: "1", Title: "1", Key: "1", Mark: "1", OK: "1", Limit: "1", Warning: "1",
	Fault: "1;7", Steal: "7", Selected: "7", Notice: "1;7",
}

// NewPalette computes the sequences of a profile.
func NewPalette(p Profile, t Theme) *Palette {
	pal := &Palette{Profile: p}
	if p == Bare {
		return pal
	}
	for r := range paints {
		codes := "0"
		if attr := attributes(p, Role(r)); attr != "" {
			codes += ";" + attr
		}
		if fg := paints[r].foreground(p, t); fg != "" {
			codes += ";" + fg
		}
		pal.sgr[r] = "\x1b[" + codes + "m"
	}
	return pal
}

func attributes(p Profile, r Role) string {
	if p == Mono {
		return mono[r]
	}
	return paints[r].attr
}

func (p paint) foreground(profile Profile, t Theme) string {
	color := p.dark
	if t == Light {
		color = p.light
	}
	switch {
	case p.basic == 0 || profile <= Mono:
		return ""
	case profile == Basic:
		return strconv.Itoa(p.basic)
	case profile == Extended:
		return fmt.Sprintf("38;5;%d", color.extended())
	default:
		return fmt.Sprintf("38;2;%d;%d;%d", color>>16&255, color>>8&255, color&255)
	}
}

// extended is the nearest colour of the 256: the 6×6×6 cube or the grey ramp.
func (c rgb) extended() int {
	r, g, b := int(c>>16&255), int(c>>8&255), int(c&255)
	if r == g && g == b {
		return 232 + min(23, max(0, (r-8+5)/10))
	}
	cube := func(v int) int {
		if v < 48 {
			return 0
		}
		return min(5, max(1, (v-35)/40))
	}
	return 16 + 36*cube(r) + 6*cube(g) + cube(b)
}
