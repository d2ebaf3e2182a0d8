package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// number is a double as cJSON prints it: whole numbers without fraction, otherwise 15
// digits if they give the value back, else 17. What is no number is null.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return []byte("null"), nil
	case v == math.Trunc(v) && math.Abs(v) < 1<<53:
		return strconv.AppendInt(nil, int64(v), 10), nil
	}
	b := strconv.AppendFloat(nil, v, 'g', 15, 64)
	if back, err := strconv.ParseFloat(string(b), 64); err != nil || back != v {
		b = strconv.AppendFloat(b[:0], v, 'g', 17, 64)
	}
	return b, nil
}

// compact marshals v on one line, as iperf3's events are.
func compact(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encoding the report: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// layout rewrites valid JSON as cJSON prints it: objects one key per line behind tabs,
// key and value parted by a tab, arrays on the line. Without indent it only makes strings
// harmless for terminals: a C1 control character is legal in JSON, and not escaped by
// encoding/json.
func layout(dst, src []byte, indent bool) []byte {
	l := printer{dst: dst, indent: indent}
	for i := 0; i < len(src); {
		if src[i] == '"' {
			i += l.text(src[i:])
			continue
		}
		l.token(src, i)
		i++
	}
	return l.dst
}

type printer struct {
	dst    []byte
	indent bool
	open   []byte // the brackets around the current place
}

func (p *printer) token(src []byte, i int) {
	c := src[i]
	switch c {
	case ' ', '\n', '\t', '\r':
		return
	case '{', '[':
		p.open = append(p.open, c)
		p.dst = append(p.dst, c)
		if c == '{' {
			p.newline(len(p.open), !closesNext(src, i, '}'))
		}
	case '}', ']':
		p.open = p.open[:len(p.open)-1]
		if c == '}' {
			p.newline(len(p.open), true)
		}
		p.dst = append(p.dst, c)
	case ',':
		p.dst = append(p.dst, c)
		switch {
		case p.open[len(p.open)-1] == '{':
			p.newline(len(p.open), true)
		case p.indent:
			p.dst = append(p.dst, ' ')
		}
	case ':':
		p.dst = append(p.dst, c)
		if p.indent {
			p.dst = append(p.dst, '\t')
		}
	default:
		p.dst = append(p.dst, c)
	}
}

// newline begins a line; the first line of an object stays empty in an empty one, whose
// closing brace begins the next.
func (p *printer) newline(depth int, wanted bool) {
	if !p.indent || !wanted {
		return
	}
	p.dst = append(p.dst, '\n')
	for range depth {
		p.dst = append(p.dst, '\t')
	}
}

func closesNext(src []byte, i int, closing byte) bool {
	rest := bytes.TrimLeft(src[i+1:], " \n\t\r")
	return len(rest) > 0 && rest[0] == closing
}

// text copies the string literal at the start of src and returns its length.
func (p *printer) text(src []byte) int {
	p.dst = append(p.dst, '"')
	for i := 1; i < len(src); {
		switch c := src[i]; {
		case c == '"':
			p.dst = append(p.dst, c)
			return i + 1
		case c == '\\' && i+1 < len(src):
			p.dst = append(p.dst, c, src[i+1])
			i += 2
		case c < utf8.RuneSelf:
			p.dst = append(p.dst, c)
			i++
		default:
			// A byte that is no UTF-8 decodes to U+FFFD of width 1: it must not be copied.
			r, n := utf8.DecodeRune(src[i:])
			if strconv.IsPrint(r) && n > 1 {
				p.dst = append(p.dst, src[i:i+n]...)
			} else {
				p.dst = appendEscaped(p.dst, r)
			}
			i += n
		}
	}
	return len(src)
}

// appendEscaped writes r as \uXXXX, beyond the basic plane as a surrogate pair.
func appendEscaped(b []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		b = fmt.Appendf(b, `\u%04x`, 0xd800+r>>10)
		r = 0xdc00 + r&0x3ff
	}
	return fmt.Appendf(b, `\u%04x`, r)
}
