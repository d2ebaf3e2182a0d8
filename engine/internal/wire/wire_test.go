package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestReadState(t *testing.T) {
	for _, s := range []State{TestStart, TestRunning, TestEnd, ParamExchange, CreateStreams, ServerTerminate,
		ClientTerminate, ExchangeResults, DisplayResults, Done, AccessDenied, ServerError, FrameHello, FrameSample} {
		got, err := ReadState(bytes.NewReader(s.Append(nil)))
		if err != nil || got != s {
			t.Errorf("reading %v back: got %v, %v", s, got, err)
		}
	}
	for _, b := range []byte{0, 3, 5, 15, 17, 'H', 'S', 0x3f, 0x44, 0x80, 0xfd} {
		var bad *StateError
		if _, err := ReadState(bytes.NewReader([]byte{b})); !errors.As(err, &bad) || bad.Byte != b {
			t.Errorf("byte 0x%02x: want a StateError of it, got %v", b, err)
		}
	}
	if _, err := ReadState(bytes.NewReader(nil)); err != io.EOF {
		t.Errorf("nothing to read: want io.EOF, got %v", err)
	}
}

func TestStateString(t *testing.T) {
	for s, want := range map[State]string{TestEnd: "TEST_END", AccessDenied: "ACCESS_DENIED", FrameSample: "frame 0x41", 99: "state 99"} {
		if got := s.String(); got != want {
			t.Errorf("State(%d): want %q, got %q", int8(s), want, got)
		}
	}
}

func TestCookie(t *testing.T) {
	c := NewCookie()
	if len(c.String()) != 36 || strings.Trim(c.String(), cookieAlphabet) != "" {
		t.Errorf("new cookie %q is not 36 characters of %s", c, cookieAlphabet)
	}
	if c == NewCookie() {
		t.Error("two new cookies are equal")
	}
	got, err := ReadCookie(iotest.OneByteReader(bytes.NewReader(append(c[:], "payload"...))))
	if err != nil || got != c {
		t.Errorf("reading %v back: got %v, %v", c, got, err)
	}
}

func TestParseCookie(t *testing.T) {
	pad := func(s string) string { return s + strings.Repeat("\x00", CookieLen-len(s)) }
	tests := []struct{ name, in, want string }{
		{"3.21", pad("abcdefghijklmnopqrstuvwxyz2345672345"), "abcdefghijklmnopqrstuvwxyz2345672345"},
		{"3.1.4", pad("vm.1796037621.866309.5ed58a837535ce6"), "vm.1796037621.866309.5ed58a837535ce6"},
		{"garbage behind the NUL does not count", "short\x00" + strings.Repeat("x", CookieLen-6), "short"},
		{"empty", pad(""), ""},
		{"no NUL", strings.Repeat("a", CookieLen), ""},
		{"HTTP", "GET / HTTP/1.1\r\nHost: 10.0.0.1:5201\r\n\r\n"[:CookieLen], ""},
		{"TLS", pad("\x16\x03\x01\x02\x00\x01\x00\x01"), ""},
		{"escape codes", pad("\x1b[2Jabcdefghijklmnopqrstuvwxyz234567"), ""},
		{"not ASCII", pad("äbcdefghijklmnopqrstuvwxyz234567234"), ""},
		{"too short", "abc", ""},
	}
	for _, test := range tests {
		got, err := ParseCookie([]byte(test.in))
		if test.want == "" {
			if !errors.Is(err, ErrCookie) {
				t.Errorf("%s: want ErrCookie, got %q, %v", test.name, got, err)
			}
			continue
		}
		if err != nil || got.String() != test.want {
			t.Errorf("%s: want %q, got %q, %v", test.name, test.want, got, err)
		}
	}
	a, _ := ParseCookie([]byte(pad("same")))
	b, _ := ParseCookie([]byte("same\x00" + strings.Repeat("y", CookieLen-5)))
	if a != b {
		t.Error("cookies that differ only behind their NUL are not equal")
	}
}

func TestJSONFraming(t *testing.T) {
	msg := AppendJSON(nil, []byte(`{"a":1}`))
	if want := "\x00\x00\x00\x07{\"a\":1}"; string(msg) != want {
		t.Fatalf("want %q, got %q", want, msg)
	}
	// In one piece with what follows, and byte by byte: both occur.
	r := bufio.NewReader(iotest.OneByteReader(bytes.NewReader(DisplayResults.Append(msg))))
	body, err := ReadJSON(r, 7)
	if err != nil || string(body) != `{"a":1}` {
		t.Fatalf("reading it back: got %q, %v", body, err)
	}
	if s, err := ReadState(r); err != nil || s != DisplayResults {
		t.Errorf("behind the JSON: want DISPLAY_RESULTS, got %v, %v", s, err)
	}

	var size *SizeError
	for _, head := range []string{"\x00\x00\x00\x00", "\x00\x00\x00\x08{}", "\xff\xff\xff\xff", "HTTP"} {
		if _, err := ReadJSON(strings.NewReader(head), 7); !errors.As(err, &size) {
			t.Errorf("%q: want a SizeError, got %v", head, err)
		}
	}
	for _, cut := range []string{"\x00\x00", "\x00\x00\x00\x07{\"a\"", "\x00\x00\x00\x07"} {
		if _, err := ReadJSON(strings.NewReader(cut), 7); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: want io.ErrUnexpectedEOF, got %v", cut, err)
		}
	}
}

// An announced size must not take memory: a peer that announces 64 MiB and sends
// nothing costs a buffer only.
func TestReadJSONAllocatesWhatArrives(t *testing.T) {
	result := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := ReadJSON(strings.NewReader("\x04\x00\x00\x00{"), MaxServerResults); err == nil {
				b.Fatal("want an error")
			}
		}
	})
	if got := result.AllocedBytesPerOp(); got > 1<<20 {
		t.Errorf("an announcement of 64 MiB took %d bytes", got)
	}
}

func TestFault(t *testing.T) {
	f := Fault{Code: CodeAuth, Errno: 13}
	msg := f.Append(nil)
	if want := "\xfe\x00\x00\x00\x8e\x00\x00\x00\x0d"; string(msg) != want {
		t.Errorf("want %q, got %q", want, msg)
	}
	tests := []struct {
		name, in string
		want     Fault
		fails    bool
	}{
		{"both numbers", string(msg[1:]), f, false},
		{"3.12 sends one after failed authentication", "\x00\x00\x00\x8e", Fault{Code: 142}, false},
		{"half of the second", "\x00\x00\x00\x8e\x00\x00", Fault{Code: 142}, false},
		{"negative", "\xff\xff\xff\xff\x00\x00\x00\x01", Fault{Code: -1, Errno: 1}, false},
		{"half of the first", "\x00\x00", Fault{}, true},
		{"nothing", "", Fault{}, true},
	}
	for _, test := range tests {
		got, err := ReadFault(strings.NewReader(test.in))
		if diff := cmp.Diff(test.want, got); diff != "" || (err != nil) != test.fails {
			t.Errorf("%s: error %v, want − got +\n%s", test.name, err, diff)
		}
	}
}

func TestCodeText(t *testing.T) {
	for c, text := range codeTexts {
		if c.Text() != text || text == "" || strings.HasSuffix(text, ".") {
			t.Errorf("code %d has the text %q", c, text)
		}
	}
	if got := Code(9999).Text(); got != "error 9999" {
		t.Errorf("an unknown code: got %q", got)
	}
	if got := Code(0).Text(); got != "an error without a number" {
		t.Errorf("code 0: got %q", got)
	}
}

func TestClean(t *testing.T) {
	tests := []struct {
		in    string
		limit int
		want  string
	}{
		{"iperf 3.12", 64, "iperf 3.12"},
		{"\x1b[31mred\x1b[0m", 64, "[31mred[0m"},
		{"\x9b31mC1", 64, "31mC1"},
		{"\u009b31mC1", 64, "31mC1"},
		{"a\tb\nc\r\n\x00d\x7f", 64, "a bcd"},
		{"right\u202eleft\u200b\ufeff", 64, "rightleft"},
		{"line\u2028end", 64, "lineend"},
		{"bro\xffken", 64, "broken"},
		{"real \ufffd stays", 64, "real \ufffd stays"},
		{"größer", 4, "grö"},
		{"größer", 3, "gr"},
		{"", 5, ""},
	}
	for _, test := range tests {
		if got := Clean(test.in, test.limit); got != test.want {
			t.Errorf("Clean(%q, %d): want %q, got %q", test.in, test.limit, test.want, got)
		}
	}
	if got := CleanText("a\r\nb\x1b\n", 64); got != "a\nb\n" {
		t.Errorf("CleanText: got %q", got)
	}
}
