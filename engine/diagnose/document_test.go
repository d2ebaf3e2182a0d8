package diagnose

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"net/netip"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

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
		{"nothing", "", "unexpected end"},
		{"no JSON", "hello", "invalid character"},
		{"an iperf3 result", `{"start":{},"end":{}}`, "no version"},
		{"a later version", `{"version":2}`, "version 2, this program knows up to 1"},
		{"a negative one", `{"version":-1}`, "no version"},
		{"two documents", `{"version":1}{"version":1}`, "invalid character"},
		{"an unknown direction", `{"version":1,"evidence":{"test":{"spec":{"direction":"sideways"}}}}`, "unknown direction"},
		{"a direction by number", `{"version":1,"evidence":{"test":{"spec":{"direction":7}}}}`, "cannot unmarshal"},
		{"an unknown status", `{"version":1,"evidence":{"path":{"gateway":{"status":"perhaps"}}}}`, "unknown reading status"},
		{"a number out of range", `{"version":1,"evidence":{"test":{"expect_bps":1e999}}}`, "cannot unmarshal"},
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

// judged runs all that a document can be asked for, and gives all that was found.
func judged(t *testing.T, d Document) (all []engine.Finding) {
	e := d.Evidence
	for _, v := range Verdicts(e) {
		all = append(append(all, v.Main), v.Also...)
	}
	all = append(all, Judge(e)...)
	for _, dir := range e.Test.Spec.Direction.Dirs() {
		Review(e, dir)
	}
	NewTracker().Update(0, e)
	all = append(all, Examination(d.All()).Findings...)
	all = append(all, Static(e)...)
	for i := range all {
		f := &all[i]
		if n := utf8.RuneCountInString(f.Short); f.Code == "" || f.Title == "" || f.Text == "" || n == 0 || n > shortest {
			t.Errorf("finding %+v", f)
		}
	}
	return all
}

// words checks that no number has become nonsense in what a finding says.
func words(t *testing.T, f *engine.Finding) {
	said := []string{f.Text, f.Short}
	for _, r := range f.Remedy {
		said = append(said, r.Text, r.Temporary, r.Persistent)
	}
	for _, n := range f.Evidence {
		said = append(said, n.Name)
		if math.IsNaN(n.Value) || math.IsInf(n.Value, 0) {
			t.Errorf("%s: %s is %v", f.Code, n.Name, n.Value)
		}
	}
	for _, s := range said {
		for _, nonsense := range []string{"%!", "NaN", "Inf", "  ", " .", "()", "1 cores", "1 packets", "1 times", "1 segments", "1 streams"} {
			if strings.Contains(" "+s, strings.Replace(nonsense, "1 ", " 1 ", 1)) {
				t.Errorf("%s says %q: %q", f.Code, nonsense, s)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	text, err := os.ReadFile("EVIDENCE.md")
	if err != nil {
		f.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```json\n")
	example, _, _ := strings.Cut(rest, "```")
	f.Add([]byte(example))
	f.Add([]byte(`{"version":1,"evidence":{"test":{"idle":true,"spec":{"direction":"both ways"}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Decode(bytes.NewReader(text))
		if err != nil {
			return
		}
		judged(t, d)
		var again bytes.Buffer
		if err := Encode(&again, d); err != nil {
			t.Fatalf("what was decoded cannot be encoded: %v", err)
		}
		if _, err := Decode(&again); err != nil {
			t.Fatalf("what was encoded cannot be decoded: %v", err)
		}
	})
}

// scramble replaces values below v, one in so many, by odd ones that a document can hold.
func scramble(v reflect.Value, r *rand.Rand, oneIn int) {
	switch v.Interface().(type) {
	case time.Time, netip.Addr:
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			scramble(v.Field(i), r, oneIn)
		}
		return
	case reflect.Array, reflect.Slice:
		if v.Kind() == reflect.Slice && v.Len() > 0 && r.IntN(oneIn) == 0 {
			v.SetLen(r.IntN(v.Len()))
		}
		for i := range v.Len() {
			scramble(v.Index(i), r, oneIn)
		}
		return
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			scramble(value, r, oneIn)
			v.SetMapIndex(key, value)
		}
		return
	}
	if r.IntN(oneIn) != 0 {
		return
	}
	odd := []float64{0, 0, 1, -1, .5, .97, 7, 1e-9, 5e-324, 1e9, 1e18, 1.7e308, -1.7e308, math.MaxInt64, math.MinInt64}[r.IntN(15)]
	switch v.Interface().(type) {
	case probes.Status:
		v.SetUint(uint64(r.IntN(6)))
		return
	case engine.Direction:
		v.SetUint(uint64(r.IntN(3)))
		return
	case engine.Role:
		v.SetUint(uint64(r.IntN(2)))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Float64:
		v.SetFloat(odd)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(r.Uint64()))
		if odd > math.MinInt32 && odd < math.MaxInt32 {
			v.SetInt(int64(odd))
		}
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(r.Uint64() >> (64 - v.Type().Bits()))
		if odd >= 0 && odd < 200 {
			v.SetUint(uint64(odd))
		}
	case reflect.String:
		v.SetString([]string{"", "tun", "veth", "physical", "wifi", "virtio_net", "bbr", "4096 x -1", "powersave", "10.0.2.1"}[r.IntN(10)])
	}
}

// FuzzRules asks all rules about evidence that no computer would give.
func FuzzRules(f *testing.F) {
	all := append(published(), runs()...)
	for i := range uint64(60) {
		f.Add(i, i*7919, uint8(i))
	}
	f.Fuzz(func(t *testing.T, which, seed uint64, density uint8) {
		var b bytes.Buffer
		d := Document{Evidence: all[which%uint64(len(all))].e}
		if which%3 == 0 { // every field set
			n := int(seed % 1000)
			populate(reflect.ValueOf(&d).Elem(), &n)
		}
		if err := Encode(&b, d); err != nil {
			t.Fatal(err)
		}
		d, err := Decode(&b) // a copy of its own
		if err != nil {
			t.Fatal(err)
		}
		scramble(reflect.ValueOf(&d).Elem(), rand.New(rand.NewPCG(seed, which)), 2+int(density))
		for _, f := range judged(t, d) {
			words(t, &f)
		}
	})
}
