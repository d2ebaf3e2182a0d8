package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"linerate/engine/diagnose"
	"linerate/engine/session"
)

// evidenceOptions are the files of evidence that a command line names.
type evidenceOptions struct {
	from string // --evidence: judge it instead of this computer
	save string // --save-evidence: write what was judged
}

// placeFor looks whether a file can be put there at all, before a test of ten minutes
// finds out.
func placeFor(path string) error {
	if path == "" {
		return nil
	}
	folder, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return failure(fmt.Errorf("--save-evidence: %w", err), "")
	}
	if !folder.IsDir() {
		return failure(fmt.Errorf("--save-evidence: %s is not a folder", filepath.Dir(path)), "")
	}
	return nil
}

// saveEvidence writes a document, whole or not at all. It names hosts and addresses: only
// its owner may read it.
func saveEvidence(path string, doc diagnose.Document) error {
	var text bytes.Buffer
	err := diagnose.Encode(&text, doc)
	if err == nil {
		err = replaceFile(path, text.Bytes())
	}
	if err != nil {
		return failure(fmt.Errorf("saving evidence: %w", err), "")
	}
	return nil
}

// saveLast writes what the rules of a session saw last, where that was asked for.
func (a *app) saveLast(o *options, s *session.Session) error {
	if o.evidence.save == "" {
		return nil
	}
	e, ok := s.Evidence()
	if !ok {
		fmt.Fprintln(a.err, "linerate: note: there is no evidence to save: the test ended before anything was seen")
		return nil
	}
	return saveEvidence(o.evidence.save, document(e))
}
