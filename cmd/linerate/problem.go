package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"linerate/engine"
)

// Exit codes. Under -c and -s iperf3's own apply: 1 for every error, 0 when a signal
// ends the test (since 3.19).
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// problem is an error for people: one sentence, what to do about it, and the exit code.
type problem struct {
	text   string
	hint   string // "" when there is nothing to advise
	iperf3 string // what iperf3 says; "" when it has no words for it
	code   int
	err    error
	told   bool // the report says it: nothing is printed
}

func (p *problem) Error() string { return p.text }
func (p *problem) Unwrap() error { return p.err }

// usage is a command line that cannot be understood or contradicts itself.
func usage(text, hint string) *problem {
	return &problem{text: text, hint: hint, code: exitUsage}
}

// usageLike is usage for a mistake that iperf3 has its own words for.
func usageLike(iperf3, text, hint string) *problem {
	return &problem{text: text, hint: hint, iperf3: iperf3, code: exitUsage}
}

// failure is a command that was understood and did not succeed.
func failure(err error, hint string) *problem {
	return &problem{text: err.Error(), hint: hint, code: exitFailed, err: err}
}

func quote(s string) string { return fmt.Sprintf("%q", s) }

// flagProblem puts pflag's errors and the engine's range checks into one sentence.
func flagProblem(err error, table []option, fs *pflag.FlagSet) *problem {
	var (
		own      *problem
		field    *engine.FieldError
		missing  *pflag.ValueRequiredError
		invalid  *pflag.InvalidValueError
		notExist *pflag.NotExistError
	)
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &field):
		words := iperf3Words(table, field.Field)
		if field.Field == "-t, -n, -k" {
			words = "only one test end condition (-t, -n, -k) may be specified"
		}
		return usageLike(words, field.Error(), field.Hint)
	case errors.As(err, &missing):
		return usage(spelled(missing.GetFlag())+": expected "+missing.GetFlag().Value.Type()+" after it", "")
	case errors.As(err, &invalid):
		name := spelled(invalid.GetFlag())
		return usageLike(iperf3Words(table, name), name+" "+quote(invalid.GetValue())+": "+cause(invalid), "")
	case errors.As(err, &notExist):
		return unknownFlag(notExist, fs)
	}
	return usage(err.Error(), "")
}

func cause(err *pflag.InvalidValueError) string {
	// The parsers of engine/unit begin with the quoted value, which the sentence has already.
	return strings.TrimPrefix(errors.Unwrap(err).Error(), quote(err.GetValue())+": ")
}

// spelled is the form of a flag that the help shows first.
func spelled(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand
	}
	return "--" + f.Name
}

func iperf3Words(table []option, name string) string {
	for _, o := range table {
		if name == "--"+o.long || o.short != "" && name == "-"+o.short {
			return o.iperf3
		}
	}
	return ""
}

// unknownFlag says where a flag belongs that this command does not take.
func unknownFlag(err *pflag.NotExistError, fs *pflag.FlagSet) *problem {
	name := err.GetSpecifiedName()
	short := err.GetSpecifiedShortnames() != ""
	text := "--" + name
	if short {
		text = "-" + name[:1]
	} else if several := startingWith(fs, name); len(several) > 1 {
		return usage(text+": could be --"+strings.Join(several, ", --"), "")
	}
	for _, o := range flagTable(&options{}) {
		if short && o.short == name[:1] || !short && o.long == name {
			return usage(text+": "+o.belongs(), "")
		}
	}
	return usage(text+": there is no such flag", "linerate --help lists the flags")
}

// startingWith lists the long flags that an abbreviation could mean.
func startingWith(fs *pflag.FlagSet, prefix string) (names []string) {
	fs.VisitAll(func(f *pflag.Flag) {
		if strings.HasPrefix(f.Name, prefix) {
			names = append(names, f.Name)
		}
	})
	return names
}
