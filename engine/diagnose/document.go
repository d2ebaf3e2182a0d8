package diagnose

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// DocumentVersion is the version of the JSON form of Evidence, which EVIDENCE.md
// describes. It grows when the meaning of a field changes or a field goes; new fields
// alone do not change it, since readers ignore what they do not know.
const DocumentVersion = 1

// Limits of a document that is read: it may come from anyone.
const (
	maxDocument = 8 << 20 // bytes
	maxList     = 4096    // elements: cores, queues, steps
	maxStreams  = 512     // sockets of one end of one direction, and threads
	maxMap      = 32768   // counters: some drivers have thousands
	maxString   = 1024    // bytes
	maxMore     = 64      // interfaces
)

// Document is evidence in a file: what a bug report needs to be judged again.
type Document struct {
	Version  int       `json:"version"`
	Program  string    `json:"program"` // that wrote it: "linerate 0.3"
	Taken    time.Time `json:"taken"`
	Evidence Evidence  `json:"evidence"`
	// More is the evidence of further interfaces of this computer, where no host was named
	// that would tell which one matters. Nothing flows in it.
	More []Evidence `json:"more,omitempty"`
}

// All gives the evidence of every interface.
func (d Document) All() []Evidence { return append([]Evidence{d.Evidence}, d.More...) }

// Encode writes a document as indented JSON. The version is this program's, whatever d
// says.
func Encode(w io.Writer, d Document) error {
	d.Version = DocumentVersion
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding evidence: %w", err)
	}
	if _, err := w.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("writing evidence: %w", err)
	}
	return nil
}

// flawed says in the words of whoever has the file what encoding/json found.
func flawed(err error) error {
	if kind := new(json.UnmarshalTypeError); errors.As(err, &kind) {
		return fmt.Errorf("evidence: not an evidence document: %q cannot be a %s", kind.Field, kind.Value)
	}
	syntax := new(json.SyntaxError)
	switch {
	case !errors.As(err, &syntax):
		return fmt.Errorf("evidence: %w", err)
	case syntax.Error() == "unexpected end of JSON input":
		return errors.New("evidence: not a whole document: it ends too early")
	}
	return fmt.Errorf("evidence: not an evidence document: no JSON (%w)", err)
}

// Decode reads one document. It takes nothing for granted: size, lists and strings are
// bounded, and what could steer a terminal is taken out of strings. An error tells what is
// wrong with the document, or how reading it failed.
func Decode(r io.Reader) (Document, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err != nil {
		return Document{}, fmt.Errorf("reading evidence: %w", err)
	}
	if len(text) > maxDocument {
		return Document{}, fmt.Errorf("evidence: more than %d MiB", maxDocument>>20)
	}
	var version struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(text, &version); err != nil {
		return Document{}, flawed(err)
	}
	switch v := version.Version; {
	case v < 1:
		return Document{}, fmt.Errorf("evidence: not an evidence document: no version")
	case v > DocumentVersion:
		return Document{}, fmt.Errorf("evidence: version %d, this program knows up to %d", v, DocumentVersion)
	}
	var d Document
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&d); err != nil {
		return Document{}, flawed(err)
	}
	if err := tame(reflect.ValueOf(&d).Elem(), "evidence"); err != nil {
		return Document{}, err
	}
	if len(d.More) > maxMore {
		return Document{}, fmt.Errorf("evidence: %d interfaces, at most %d", len(d.More), maxMore)
	}
	for _, e := range d.All() {
		if err := e.bounded(); err != nil {
			return Document{}, err
		}
	}
	return d, nil
}

// bounded checks the lists that rules walk more than once.
func (e *Evidence) bounded() error {
	for i := range e.Flows {
		f := &e.Flows[i]
		for _, side := range []int{len(f.Sender.Value), len(f.Receiver.Value)} {
			if side > maxStreams {
				return fmt.Errorf("evidence: %d streams, at most %d", side, maxStreams)
			}
		}
	}
	for i := range e.Ends {
		end := &e.Ends[i]
		if n := max(len(end.Threads.Value), len(end.Others.Value)); n > maxStreams {
			return fmt.Errorf("evidence: %d threads, at most %d", n, maxStreams)
		}
	}
	return nil
}

// tame bounds the lists below v and cleans its strings. path names v in errors.
func tame(v reflect.Value, path string) error {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return nil
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if err := tame(v.Field(i), path+"."+name); err != nil {
				return err
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Len() > maxList {
			return fmt.Errorf("%s: %d elements, at most %d", path, v.Len(), maxList)
		}
		for i := range v.Len() {
			if err := tame(v.Index(i), path); err != nil {
				return err
			}
		}
	case reflect.Map:
		if v.Len() > maxMap {
			return fmt.Errorf("%s: %d entries, at most %d", path, v.Len(), maxMap)
		}
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			if err := tame(value, path); err != nil {
				return err
			}
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString(harmless(v.String()))
	}
	return nil
}

// harmless takes out of a string what a terminal could obey: control characters, marks
// that steer the direction of text, line separators; and cuts it to size.
func harmless(s string) string {
	bad := func(r rune) bool {
		return r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
	}
	if strings.ContainsFunc(s, bad) {
		s = strings.Map(func(r rune) rune {
			if bad(r) {
				return -1
			}
			return r
		}, s)
	}
	if len(s) > maxString {
		s = strings.ToValidUTF8(s[:maxString], "")
	}
	return s
}
