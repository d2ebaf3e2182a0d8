package report

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// Every key that can appear in JSON is in the package comment, and the comment names no
// key that cannot.
func TestDocNamesEveryKey(t *testing.T) {
	keys := map[string]bool{}
	for _, v := range []any{document{}, startClient{}, startServer{}, intervalJSON{}, endJSON{}, event{}, doctorJSON{}} {
		collect(reflect.TypeOf(v), keys)
	}
	keys["linerate_findings"] = true // an event
	source, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, doc, _ := strings.Cut(string(source), "# JSON\n")
	words := map[string]bool{}
	for _, w := range regexp.MustCompile(`[a-z][a-z_0-9]*`).FindAllString(doc, -1) {
		words[w] = true
	}
	for key := range keys {
		if !words[key] {
			t.Errorf("key %q is not explained in doc.go", key)
		}
	}
	for word := range words {
		if strings.Contains(word, "_") && !keys[word] {
			t.Errorf("doc.go explains %q, which is no key", word)
		}
	}
}

func collect(t reflect.Type, keys map[string]bool) {
	if t.PkgPath() == "linerate/probes" && !strings.HasPrefix(t.Name(), "Reading[") {
		return // EVIDENCE.md tells of it
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		if t != reflect.TypeFor[json.RawMessage]() {
			collect(t.Elem(), keys)
		}
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
				keys[name] = true
			}
			collect(f.Type, keys)
		}
	}
}
