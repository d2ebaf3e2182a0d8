package diagnose

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"linerate/engine"
	"linerate/probes"
)

// populate puts something into every field below v, different in each.
func populate(v reflect.Value, n *int) {
	*n++
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, *n%60, 0, time.UTC)))
		return
	case netip.Addr:
		v.Set(reflect.ValueOf(netip.MustParseAddr("192.0.2.7")))
		return
	case probes.Status:
		v.Set(reflect.ValueOf(probes.OK))
		return
	case engine.Direction:
		v.Set(reflect.ValueOf(engine.Download))
		return
	case engine.Role:
		v.Set(reflect.ValueOf(engine.Server))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			populate(v.Field(i), n)
		}
		if v.FieldByName("Status").IsValid() && v.FieldByName("Reason").IsValid() {
			v.FieldByName("Reason").SetString("") // what was read needs none
		}
	case reflect.Array:
		for i := range v.Len() {
			populate(v.Index(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		populate(v.Index(0), n)
		populate(v.Index(1), n)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		value := reflect.New(v.Type().Elem()).Elem()
		populate(value, n)
		v.SetMapIndex(reflect.ValueOf("key"+strconv.Itoa(*n)), value)
	case reflect.String:
		v.SetString("text " + strconv.Itoa(*n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(float64(*n) + .5)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8:
		v.SetUint(uint64(*n % 256))
	case reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n))
	}
}

func TestDocumentRoundTrip(t *testing.T) {
	var want Document
	n := 0
	populate(reflect.ValueOf(&want).Elem(), &n)
	want.Version = DocumentVersion
	if n < 1000 {
		t.Fatalf("only %d values were filled", n)
	}
	for _, want := range []Document{want, {Version: DocumentVersion}, {Version: DocumentVersion, Evidence: smallWindow()}} {
		var b bytes.Buffer
		if err := Encode(&b, want); err != nil {
			t.Fatal(err)
		}
		got, err := Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{}), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// A saved document gives the verdict that it was saved for.
func TestDocumentKeepsTheVerdict(t *testing.T) {
	for _, l := range append(published(), runs()...) {
		var b bytes.Buffer
		if err := Encode(&b, Document{Evidence: l.e}); err != nil {
			t.Fatal(err)
		}
		d, err := Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Verdicts(l.e), Verdicts(d.Evidence)); diff != "" {
			t.Errorf("%s (-before +after):\n%s", l.name, diff)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	list := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("0,", n), ",") + "]" }
	tests := []struct{ name, text, want string }{
		{"nothing", "", "ends too early"},
		{"no JSON", "hello", "invalid character"},
		{"an iperf3 result", `{"start":{},"end":{}}`, "no version"},
		{"a later version", `{"version":2}`, "version 2, this program knows up to 1"},
		{"a negative one", `{"version":-1}`, "no version"},
		{"two documents", `{"version":1}{"version":1}`, "invalid character"},
		{"an unknown direction", `{"version":1,"evidence":{"test":{"spec":{"direction":"sideways"}}}}`, "unknown direction"},
		{"a direction by number", `{"version":1,"evidence":{"test":{"spec":{"direction":7}}}}`, "cannot be a number"},
		{"an unknown status", `{"version":1,"evidence":{"path":{"gateway":{"status":"perhaps"}}}}`, "unknown reading status"},
		{"a number out of range", `{"version":1,"evidence":{"test":{"expect_bps":1e999}}}`, "cannot be a number"},
		{"too many seconds", `{"version":1,"evidence":{"flows":[{"seconds_bps":` + list(maxList+1) + `}]}}`, "evidence.evidence.flows.seconds_bps: 4097 elements"},
		{"too many streams", `{"version":1,"evidence":{"flows":[{"sender":{"status":"ok","value":[` + strings.TrimSuffix(strings.Repeat("{},", maxStreams+1), ",") + `]}}]}}`, "513 streams"},
		{"too many threads", `{"version":1,"evidence":{"ends":[{"others":{"status":"ok","value":[` + strings.TrimSuffix(strings.Repeat("{},", maxStreams+1), ",") + `]}}]}}`, "513 threads"},
		{"too many interfaces", `{"version":1,"more":[` + strings.TrimSuffix(strings.Repeat("{},", maxMore+1), ",") + `]}`, "65 interfaces"},
		{"too many streams of another interface", `{"version":1,"more":[{"flows":[{"sender":{"status":"ok","value":[` + strings.TrimSuffix(strings.Repeat("{},", maxStreams+1), ",") + `]}}]}]}`, "513 streams"},
		{"too large", `{"version":1,"program":"` + strings.Repeat("x", maxDocument) + `"}`, "more than 8 MiB"},
		{"too deep", strings.Repeat(`{"evidence":`, 20000), "exceeded max depth"},
	}
	for _, tt := range tests {
		d, err := Decode(strings.NewReader(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %+v, error %v, want %q", tt.name, d, err, tt.want)
		}
	}
}

func TestDecodeCleansStrings(t *testing.T) {
	d, err := Decode(strings.NewReader(`{"version":1,"program":"a\u001b[31mb\u202ec\u0085","evidence":{"ends":[{"settings":{"x":{"status":"ok","value":{"value":"1\u0007"}}},` +
		`"nic":{"status":"ok","value":{"name":"eth0; rm -rf /"}}}],"test":{"peer_agent":"` + strings.Repeat("é", maxString) + `"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if d.Program != "a[31mbc" {
		t.Errorf("program %q", d.Program)
	}
	if v := d.Evidence.Ends[0].Settings["x"].Value.Value; v != "1" {
		t.Errorf("setting %q", v)
	}
	if n := len(d.Evidence.Test.PeerAgent); n != maxString {
		t.Errorf("agent of %d bytes, want %d", n, maxString)
	}
	// What people copy into a shell holds no name that a stranger chose freely.
	if s := d.Evidence.system(engine.Local); s.nic != "IF" || s.card != "IF" {
		t.Errorf("interface %q, card %q in commands", s.nic, s.card)
	}
}

// What JSON cannot hold is an error, not a broken file.
func TestEncodeRefuses(t *testing.T) {
	var d Document
	zero := 0.0
	d.Evidence.Test.ExpectBps = 1 / zero
	var b bytes.Buffer
	if err := Encode(&b, d); err == nil || b.Len() > 0 {
		t.Errorf("infinite rate: error %v, %d bytes written", err, b.Len())
	}
}

// EVIDENCE.md names every field, and every field has a name that it can give.
func TestDocumentIsDescribed(t *testing.T) {
	text, err := os.ReadFile("EVIDENCE.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[reflect.Type]bool{}
	var walk func(typ reflect.Type)
	walk = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Slice, reflect.Array, reflect.Map:
			walk(typ.Elem())
			return
		case reflect.Struct:
		default:
			return
		}
		if seen[typ] || typ == reflect.TypeFor[time.Time]() || typ == reflect.TypeFor[netip.Addr]() {
			return
		}
		seen[typ] = true
		for i := range typ.NumField() {
			f := typ.Field(i)
			walk(f.Type)
			if f.Anonymous {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" || name != strings.ToLower(name) {
				t.Errorf("%v.%s has the name %q in JSON", typ, f.Name, name)
			}
			if !strings.Contains(string(text), "`"+name+"`") {
				t.Errorf("EVIDENCE.md does not name %q of %v", name, typ)
			}
		}
	}
	walk(reflect.TypeFor[Document]())
	if !strings.Contains(string(text), "version "+strconv.Itoa(DocumentVersion)) {
		t.Errorf("EVIDENCE.md does not speak of version %d", DocumentVersion)
	}
}

// The example that EVIDENCE.md shows is a document, and gives the verdict it says.
func TestExampleOfTheDescription(t *testing.T) {
	text, err := os.ReadFile("EVIDENCE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```json\n")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("EVIDENCE.md shows no example")
	}
	d, err := Decode(strings.NewReader(example))
	if err != nil {
		t.Fatal(err)
	}
	strict := json.NewDecoder(strings.NewReader(example))
	strict.DisallowUnknownFields()
	if err := strict.Decode(new(Document)); err != nil {
		t.Errorf("the example has a field that does not exist: %v", err)
	}
	if v := Verdicts(d.Evidence); len(v) != 1 || v[0].Main.Code != ReceiveWindow || v[0].Main.Confidence != engine.Sure {
		t.Errorf("got %+v, want %s", v, ReceiveWindow)
	}
}
