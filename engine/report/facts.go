package report

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"linerate/engine/unit"
	"linerate/probes"
)

// facts are what is known of a computer in words, and what is not.
type facts struct {
	groups  []factGroup
	unread  []unreadJSON
	subject string // of what is being said: "eth0"; "" the computer
}

// factGroup is one heading with its phrases.
type factGroup struct {
	name  string
	parts []string
}

// group adds a heading with those of the phrases that say something.
func (f *facts) group(name string, parts ...string) {
	g := factGroup{name: name}
	for _, p := range parts {
		if p != "" {
			g.parts = append(g.parts, p)
		}
	}
	if len(g.parts) > 0 {
		f.groups = append(f.groups, g)
	}
}

// fact puts a reading into words. What could not be read is a dash, and is listed with its
// reason.
func fact[T any](f *facts, what string, r probes.Reading[T], words func(T) string) string {
	if v, ok := r.Get(); ok {
		return words(v)
	}
	f.miss(what, r.Status, r.Why())
	return what + " " + unit.None
}

// rare is a fact of something that most computers do not have: one that is absent is no
// word worth.
func rare[T any](f *facts, what string, r probes.Reading[T], words func(T) string) string {
	if r.Status == probes.Absent {
		return ""
	}
	return fact(f, what, r, words)
}

// newer is a rare fact that saved evidence of earlier versions does not have.
func newer[T any](f *facts, what string, r probes.Reading[T], words func(T) string) string {
	if r.Status == probes.NotRead {
		return ""
	}
	return rare(f, what, r, words)
}

// miss lists what could not be read.
func (f *facts) miss(what string, status probes.Status, why string) {
	f.unread = append(f.unread, unreadJSON{f.subject, what, status, f.plainly(why)})
}

var prefixes = regexp.MustCompile(`^[^:]* of ([^:]*): `)

// plainly takes from a reason what its place in the list says already: "speed of eth0: ".
func (f *facts) plainly(why string) string {
	if m := prefixes.FindStringSubmatch(why); m != nil && f.subject != "" && m[1] == f.subject {
		return why[len(m[0]):]
	}
	return why
}

// listed sums up what could not be read, one line for each reason.
func (f *facts) listed() (lines []string) {
	type place struct{ subject, reason string }
	var order []place
	what := map[place][]string{}
	for _, u := range f.unread {
		p := place{u.Subject, u.Reason}
		if what[p] == nil {
			order = append(order, p)
		}
		what[p] = append(what[p], u.What)
	}
	for _, p := range order {
		line := strings.Join(what[p], ", ") + ": " + p.reason
		if p.subject != "" {
			line = p.subject + " " + line
		}
		lines = append(lines, line)
	}
	return lines
}

func same(s string) string { return s }

// speedName prints a line speed as people call it: "2.5 Gbit/s".
func speedName(bps float64) string {
	if bps < 1e9 {
		return strconv.FormatFloat(bps/1e6, 'f', -1, 64) + " Mbit/s"
	}
	return strconv.FormatFloat(bps/1e9, 'f', -1, 64) + " Gbit/s"
}

// speedNames prints several line speeds, with the unit where it changes: "100 Mbit/s, 1,
// 10 Gbit/s".
func speedNames(all []float64) string {
	parts := make([]string, len(all))
	for i, bps := range all {
		parts[i] = speedName(bps)
		if i+1 < len(all) && (bps < 1e9) == (all[i+1] < 1e9) {
			parts[i], _, _ = strings.Cut(parts[i], " ")
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

// share prints a share of one in percent.
func share(v float64) string { return percent(100 * v) }

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func gigahertz(hz float64) string { return fmt.Sprintf("%.2f", hz/1e9) }
