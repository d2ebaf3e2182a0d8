package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/spf13/cobra"

	"linerate/engine"
	"linerate/engine/diagnose"
	"linerate/engine/report"
	"linerate/engine/session"
	"linerate/probes/host"
)

// doctor is linerate doctor [HOST]: it looks at this computer, and the way to a host, without
// a test, or at what was saved of another one.
func (a *app) doctor(cmd *cobra.Command, o *options, args []string) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), endings...)
	defer stop()
	doc, err := a.subject(ctx, cmd, o, args)
	switch {
	case ctx.Err() != nil:
		return &problem{code: exitInterrupted}
	case err != nil:
		return err
	}
	x := diagnose.Examination(doc.All())
	x.Taken = doc.Taken
	if o.evidence.from != "" {
		x.Program = doc.Program
	}
	if o.evidence.save != "" {
		if err := saveEvidence(o.evidence.save, doc); err != nil {
			return err
		}
	}
	if o.output.json {
		err = report.DoctorJSON(a.out, x, report.JSONOptions{Version: agent()})
	} else {
		err = report.Doctor(a.out, x, columns(a.out))
	}
	if err != nil {
		return failure(err, "")
	}
	return nil
}

// subject is what is looked at: saved evidence, the way to a host, or this computer.
func (a *app) subject(ctx context.Context, cmd *cobra.Command, o *options, args []string) (diagnose.Document, error) {
	if o.evidence.from != "" {
		switch {
		case len(args) > 0:
			return diagnose.Document{}, usage("--evidence: no host beside it", "the file tells which host it is about")
		case o.evidence.save != "":
			return diagnose.Document{}, usage("--evidence and --save-evidence: only one of them", "copy the file")
		case o.expect > 0:
			return diagnose.Document{}, usage("--evidence and --expect: only one of them", "--expect belongs to what the file was saved from")
		}
		return readEvidence(o.evidence.from)
	}
	var spec engine.Spec
	if len(args) > 0 {
		to, err := oneTarget(args)
		if err != nil {
			return diagnose.Document{}, err
		}
		if spec, err = o.test(to, 0, cmd.Flags().Changed); err != nil {
			return diagnose.Document{}, err
		}
	} else if flag := givenOf(cmd, "port", "version4", "version6"); flag != "" {
		return diagnose.Document{}, usage(flag+": only with a host", "")
	}
	if err := placeFor(o.evidence.save); err != nil {
		return diagnose.Document{}, err
	}
	source := host.New()
	defer source.Close()
	all, err := session.Examine(ctx, session.Subject{
		Spec: spec, Host: source, Evidence: source, Interfaces: source, Path: source, ExpectBps: o.expect,
	})
	if err != nil {
		return diagnose.Document{}, testProblem(err)
	}
	return document(all...), nil
}

// givenOf finds a flag that is on the command line, as it is spelled.
func givenOf(cmd *cobra.Command, names ...string) string {
	for _, name := range names {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			return spelled(f)
		}
	}
	return ""
}

// readEvidence reads what doctor, or a test with --save-evidence, has saved.
func readEvidence(path string) (diagnose.Document, error) {
	f, err := os.Open(path)
	if err != nil {
		return diagnose.Document{}, failure(fmt.Errorf("reading evidence: %w", err), "")
	}
	defer f.Close()
	doc, err := diagnose.Decode(f)
	if err != nil {
		return diagnose.Document{}, failure(fmt.Errorf("%s: %w", path, err), "linerate doctor --save-evidence FILE writes such a file, and so does a test")
	}
	return doc, nil
}

// document is evidence as of now.
func document(all ...diagnose.Evidence) diagnose.Document {
	return diagnose.Document{Program: agent(), Taken: time.Now(), Evidence: all[0], More: all[1:]}
}
