package report

import (
	"fmt"
	"time"
)

// DefaultTimestamps is the format of --timestamps without a value.
const DefaultTimestamps = "%c "

// strftime formats t as C does in the C locale, with what iperf3 users write into
// --timestamps. A conversion it does not know stays as it is written.
func strftime(format string, t time.Time) string {
	b := make([]byte, 0, len(format)+24)
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b = append(b, format[i])
			continue
		}
		i++
		b = appendConversion(b, format[i], t)
	}
	return string(b)
}

// layouts are the conversions that are one layout of package time.
var layouts = map[byte]string{
	'a': "Mon", 'A': "Monday", 'b': "Jan", 'B': "January", 'h': "Jan",
	'c': "Mon Jan _2 15:04:05 2006", 'D': "01/02/06", 'x': "01/02/06",
	'd': "02", 'e': "_2", 'F': "2006-01-02", 'H': "15", 'I': "03",
	'j': "002", 'm': "01", 'M': "04", 'p': "PM", 'P': "pm", 'r': "03:04:05 PM", 'R': "15:04",
	'S': "05", 'T': "15:04:05", 'X': "15:04:05", 'y': "06", 'Y': "2006",
	'z': "-0700", 'Z': "MST",
}

func appendConversion(b []byte, c byte, t time.Time) []byte {
	if layout, ok := layouts[c]; ok {
		return t.AppendFormat(b, layout)
	}
	year, week := t.ISOWeek()
	switch c {
	case '%':
		return append(b, '%')
	case 'n':
		return append(b, '\n')
	case 't':
		return append(b, '\t')
	case 'C':
		return fmt.Appendf(b, "%02d", t.Year()/100)
	case 'G':
		return fmt.Appendf(b, "%04d", year)
	case 'V':
		return fmt.Appendf(b, "%02d", week)
	case 'k':
		return fmt.Appendf(b, "%2d", t.Hour())
	case 'l':
		return fmt.Appendf(b, "%2d", (t.Hour()+11)%12+1)
	case 's':
		return fmt.Appendf(b, "%d", t.Unix())
	case 'u':
		return fmt.Appendf(b, "%d", (int(t.Weekday())+6)%7+1)
	case 'w':
		return fmt.Appendf(b, "%d", int(t.Weekday()))
	}
	return append(b, '%', c)
}
