package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// app is one run of the program: where it reads and writes.
type app struct {
	in       io.Reader
	out, err io.Writer
	log      io.Closer // --logfile, once it is open
}

func (a *app) close() {
	if a.log != nil {
		a.log.Close()
	}
}

// run carries out a command line and returns the exit code. Cancelling ctx ends what is
// running at once.
func run(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int {
	a := &app{in: in, out: out, err: errw}
	defer a.close()
	root, words := a.root(), ours
	if spelledLikeIperf3(args) {
		root, words = a.iperf3(), iperf3
	}
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errw)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	return a.complain(err, words)
}

// complain prints an error with its hint and gives the exit code. An error without text
// has been reported already.
func (a *app) complain(err error, words spelling) int {
	var p *problem
	if !errors.As(err, &p) {
		p = usage(err.Error(), "")
	}
	if words == iperf3 {
		return a.complainLikeIperf3(p)
	}
	if p.text != "" {
		fmt.Fprintf(a.err, "linerate: error: %s\n", p.text)
	}
	if p.hint != "" {
		fmt.Fprintf(a.err, "linerate: hint: %s\n", p.hint)
	}
	return p.code
}

// complainLikeIperf3 uses iperf3's own line where there is one, since scripts look for it,
// and its exit code, which is 1 for everything.
func (a *app) complainLikeIperf3(p *problem) int {
	kind := "error"
	if p.code == exitUsage {
		kind = "parameter error"
	}
	text := p.iperf3
	if text == "" {
		text = p.text
	}
	if text != "" && !p.told {
		fmt.Fprintf(a.err, "iperf3: %s - %s\n", kind, text)
		if p.hint != "" {
			fmt.Fprintf(a.err, "linerate: hint: %s\n", p.hint)
		}
	}
	if p.code == exitOK || p.code == exitInterrupted {
		return exitOK
	}
	return exitFailed
}

// command makes a cobra command whose errors come back to run as problems.
func (a *app) command(use string, role roles, do func(cmd *cobra.Command, o *options, args []string) error) *cobra.Command {
	o := newOptions()
	if role&(onC|onS) != 0 {
		o.spelling = iperf3
	}
	table := flagTable(o)
	cmd := &cobra.Command{
		Use:               use,
		SilenceErrors:     true,
		SilenceUsage:      true,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.version {
				return a.version(o.spelling)
			}
			if err := do(cmd, o, args); err != nil {
				return flagProblem(err, table, cmd.Flags())
			}
			return nil
		},
	}
	register(cmd.Flags(), table, role)
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return flagProblem(err, table, cmd.Flags())
	})
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { a.help(cmd, role) })
	return cmd
}

// root is the command line of our own spelling.
func (a *app) root() *cobra.Command {
	root := a.command("linerate HOST[:PORT]", onHost, func(cmd *cobra.Command, o *options, args []string) error {
		if len(args) == 0 && cmd.Flags().NFlag() == 0 {
			a.overview(a.err)
			return &problem{code: exitUsage}
		}
		if len(args) > 0 && slices.Contains(laterCommands, args[0]) {
			return usage("there is no command "+quote(args[0])+" in this version", "linerate --help lists the commands; a host of that name: linerate client "+args[0])
		}
		return meant(cmd, args, a.client(cmd, o, args))
	})
	root.SuggestionsMinimumDistance = 2
	client := a.command("client HOST[:PORT]", onHost, func(cmd *cobra.Command, o *options, args []string) error {
		return a.client(cmd, o, args)
	})
	client.Short = "dashboard on a live test; `linerate HOST` is the same"
	demo := a.command("demo", onDemo, func(cmd *cobra.Command, o *options, args []string) error {
		return a.demo(cmd, o, args)
	})
	demo.Short = "server and dashboard on this computer, nothing else needed"
	serve := a.command("serve", onServe, func(cmd *cobra.Command, o *options, args []string) error {
		return a.serve(cmd, o, args)
	})
	serve.Short = "server for iperf3 and linerate clients, many tests at once"
	plain := a.command("run HOST[:PORT]", onRun, func(cmd *cobra.Command, o *options, args []string) error {
		return a.runTest(cmd, o, args)
	})
	plain.Short = "a test without dashboard, printed as iperf3 does"
	doctor := a.command("doctor [HOST[:PORT]]", onDoctor, func(cmd *cobra.Command, o *options, args []string) error {
		return a.doctor(cmd, o, args)
	})
	doctor.Short = "facts, findings and advice without traffic"
	about := &cobra.Command{
		Use: "version", Short: "what this is", Args: noArgs, SilenceErrors: true, SilenceUsage: true,
		RunE: func(*cobra.Command, []string) error { return a.version(ours) },
	}
	root.AddCommand(client, demo, serve, plain, doctor, about)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		if cmd == root {
			a.overview(a.out)
			return
		}
		fmt.Fprintf(a.out, "%s\n\nUsage:\n  %s\n", cmd.Short, cmd.UseLine())
	})
	return root
}

// meant advises a command whose name is nearly that of a host nobody knows.
func meant(root *cobra.Command, args []string, err error) error {
	var p *problem
	if len(args) != 1 || !errors.As(err, &p) || !unknownName(p) {
		return err
	}
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		p.hint = "did you mean `linerate " + near[0] + "`?"
	}
	return p
}

// laterCommands are words that will be commands and are refused until then, so that no
// script takes one for a host.
var laterCommands = []string{"sweep", "tune", "replay", "compare", "report", "man"}

func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("unexpected "+quote(args[0]), "")
	}
	return nil
}

// iperf3 is the command line of iperf3: linerate -c HOST and linerate -s.
func (a *app) iperf3() *cobra.Command {
	return a.command("linerate -c HOST | -s", onC|onS, func(cmd *cobra.Command, o *options, args []string) error {
		switch {
		case o.server && o.client != "":
			return usageLike("cannot be both server and client", "-c and -s: only one of them", "")
		case len(args) > 0:
			return usage("unexpected "+quote(args[0]), "")
		case o.server:
			if f := misplaced(cmd.Flags(), onS); f != "" {
				return usageLike("some option you are trying to set is client only", f+": only for a client (-c)", "")
			}
			return a.serve(cmd, o, nil)
		}
		if f := misplaced(cmd.Flags(), onC); f != "" {
			return usageLike("some option you are trying to set is server only", f+": only for a server (-s)", "")
		}
		return a.runTest(cmd, o, []string{o.client})
	})
}

// spelledLikeIperf3 looks for -c or -s the way getopt does: alone, in a cluster (-Rc HOST)
// or as an abbreviation, before any command word.
func spelledLikeIperf3(args []string) bool {
	table := flagTable(newOptions())
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case word == "--":
			return false
		case strings.HasPrefix(word, "--"):
			name, _, valued := strings.Cut(word[2:], "=")
			o := byLong(table, name)
			if o.long == "client" || o.long == "server" {
				return true
			}
			if o.arg != "" && o.without == "" && !valued {
				i++
			}
		case strings.HasPrefix(word, "-") && word != "-":
			found, skip := inCluster(table, word[1:])
			if found {
				return true
			}
			if skip {
				i++
			}
		default:
			if slices.Contains(commandWords, word) {
				return false
			}
		}
	}
	return false
}

var commandWords = []string{"client", "demo", "serve", "run", "doctor", "version", "completion", "help", "__complete", "__completeNoDesc"}

// inCluster reports whether -c or -s is among the short flags of one word, and whether the
// last of them takes the next word as its value.
func inCluster(table []option, shorts string) (found, takesNext bool) {
	for i, r := range shorts {
		if r == 'c' || r == 's' {
			return true, false
		}
		for _, o := range table {
			if o.short != string(r) || o.arg == "" || o.without != "" {
				continue
			}
			return false, i == len(shorts)-1
		}
	}
	return false, false
}

// misplaced finds a flag that was given and that the role does not take.
func misplaced(fs *pflag.FlagSet, role roles) (name string) {
	table := flagTable(newOptions())
	fs.Visit(func(f *pflag.Flag) {
		if o := byLong(table, f.Name); o.roles&role == 0 && name == "" {
			name = spelled(f)
		}
	})
	return name
}

// byLong finds the option that name is or, like getopt_long, begins; of several ones the
// first that is neither -c nor -s.
func byLong(table []option, name string) (found option) {
	for _, o := range table {
		if o.long == name {
			return o
		}
		if strings.HasPrefix(o.long, name) && (found.long == "" || found.long == "client" || found.long == "server") {
			found = o
		}
	}
	return found
}
