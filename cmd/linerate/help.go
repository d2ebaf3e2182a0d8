package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// overview is the help of the program as a whole: what a newcomer needs, on one screen.
func (a *app) overview(w io.Writer) {
	fmt.Fprint(w, `linerate: how fast is this link, and what holds it back?

Usage:
  linerate HOST[:PORT]      dashboard on a live test against an iperf3 or linerate server
  linerate demo             server and dashboard on this computer, nothing else needed
  linerate serve            server for iperf3 and linerate clients, many tests at once
  linerate run HOST[:PORT]  the same test without a dashboard, printed as iperf3 does
  linerate doctor [HOST]    what is wrong with this computer or the way to HOST, without traffic
  linerate version, completion
  linerate -c HOST, -s      iperf3's command line

Examples:
  linerate 192.0.2.7               upload until q; + - streams, d direction, ? all keys
  linerate 192.0.2.7 -P 4 -R       start with four streams, the server sends
  linerate demo --auto             how many streams does this computer need?
  linerate run 192.0.2.7 -t 30 -J  for scripts: JSON in iperf3's schema
  linerate serve -p 443            where only port 443 is open
  linerate doctor 192.0.2.7        link, slot, clock, path MTU, round trip: findings and advice

Flags are iperf3's: linerate client --help lists them, as does --help after each command.
`)
}

// examples stand at the end of a command's help.
var examples = map[string]string{
	"linerate": `  linerate 192.0.2.7                  upload until q
  linerate 192.0.2.7 -t 60 --bidir    both ways for a minute, then keep the result on screen
  linerate [2001:db8::7]:5202 -P 8`,
	"demo": `  linerate demo                       then press + and watch the cores
  linerate demo --auto                find the best stream count
  linerate demo --link 10G --per-stream 2.5G`,
	"serve": `  linerate serve                      port 5201, IPv4 and IPv6
  linerate serve -p 443 -B 192.0.2.1
  linerate serve -1                   end after one test`,
	"run": `  linerate run 192.0.2.7 -t 30 -P 4
  linerate run 192.0.2.7 -R -J | jq .end.sum_received.bits_per_second
  linerate run 192.0.2.7 -J | jq -r '.linerate.findings[0].code'`,
	"doctor": `  linerate doctor                     this computer and its interfaces
  linerate doctor 192.0.2.7           and the way to a host: path MTU, round trip, line speed
  linerate doctor --expect 10G        which of the cards that can do 10G does less?
  linerate doctor --json | jq -r '.findings[].text'
  linerate doctor --evidence FILE     what another computer, or a test, has saved`,
}

// help prints a command's flags, grouped.
func (a *app) help(cmd *cobra.Command, role roles) {
	name := cmd.Name()
	if cmd.Short != "" {
		fmt.Fprintf(a.out, "linerate %s: %s\n\n", name, cmd.Short)
	}
	use := cmd.UseLine()
	if name == "client" {
		name = "linerate"
	}
	fmt.Fprintf(a.out, "Usage:\n  %s\n", use)
	table := flagTable(newOptions())
	for _, group := range groups {
		var lines []string
		for _, o := range table {
			if o.group == group && o.roles&role != 0 {
				lines = append(lines, o.line())
			}
		}
		if len(lines) > 0 {
			fmt.Fprintf(a.out, "\n%s:\n%s\n", group, strings.Join(lines, "\n"))
		}
	}
	if text := examples[name]; text != "" && role&(onC|onS) == 0 {
		fmt.Fprintf(a.out, "\nExamples:\n%s\n", text)
	}
}

// line is one flag in the help.
func (o option) line() string {
	form := "    --" + o.long
	if o.short != "" {
		form = "-" + o.short + ", --" + o.long
	}
	switch {
	case o.without != "":
		form += "[=" + o.arg + "]"
	case o.arg != "":
		form += " " + o.arg
	}
	const width = 36
	if len(form) > width-2 {
		return fmt.Sprintf("  %s\n  %*s%s", form, width, "", o.help)
	}
	return fmt.Sprintf("  %-*s%s", width, form, o.help)
}
