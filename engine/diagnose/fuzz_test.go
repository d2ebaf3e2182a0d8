package diagnose

import (
	"bytes"
	"math"
	"math/rand/v2"
	"net/netip"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"linerate/engine"
	"linerate/probes"
)

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
