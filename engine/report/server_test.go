package report

import (
	"strings"
	"sync"
	"testing"
	"time"

	"linerate/engine"

	"github.com/google/go-cmp/cmp"
)

func TestServerTextOfOneTestAfterTheOther(t *testing.T) {
	var got strings.Builder
	text := NewServerText(&got, 46276, TextOptions{Verbose: true, Version: "linerate 0.1.0", System: uname})
	text.Listening()
	for _, host := range []string{"127.0.0.1", "::1"} {
		s := scene{role: engine.Server, intervals: 1, host: host, spec: engine.Spec{Duration: time.Second, Bitrate: 5e7}}
		s.play(text.Sink(s.info()))
	}
	compare(t, "several.server", got.String())
}

// Two tests at once: the lines of one call stay together, and every change of the writing
// test is marked.
func TestServerTextOfTestsAtOnce(t *testing.T) {
	var got strings.Builder
	text := NewServerText(&got, 5201, TextOptions{Title: "not for servers"})
	text.Listening()
	one := scene{role: engine.Server, intervals: 2}
	two := scene{role: engine.Server, intervals: 1, spec: engine.Spec{Streams: 2}}
	first, second := text.Sink(one.info()), text.Sink(two.info())
	first.Begin(one.info())
	first.Interval(one.reports()[0])
	second.Begin(two.info())
	first.Interval(one.reports()[1])
	second.Interval(two.reports()[0])
	first.End(one.result())
	second.End(two.result())

	want := `-----------------------------------------------------------
Server listening on 5201 (test #1)
-----------------------------------------------------------
Accepted connection from 127.0.0.1, port 40000
[  5] local 127.0.0.1 port 46202 connected to 127.0.0.1 port 40000
[ ID] Interval           Transfer     Bitrate
[  5]   0.00-1.00   sec  6.00 MBytes  50.3 Mbits/sec                  
Accepted connection from 127.0.0.1, port 40000
[  5] local 127.0.0.1 port 46202 connected to 127.0.0.1 port 40000
[  8] local 127.0.0.1 port 46202 connected to 127.0.0.1 port 40000
Test #1, 127.0.0.1 port 40000:
[  5]   1.00-2.00   sec  6.00 MBytes  50.3 Mbits/sec                  
Test #2, 127.0.0.1 port 40000:
[ ID] Interval           Transfer     Bitrate
[  5]   0.00-1.00   sec  6.00 MBytes  50.3 Mbits/sec                  
[  8]   0.00-1.00   sec  6.00 MBytes  50.3 Mbits/sec                  
[SUM]   0.00-1.00   sec  12.0 MBytes   101 Mbits/sec                  
Test #1, 127.0.0.1 port 40000:
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate
[  5]   0.00-2.00   sec  12.0 MBytes  50.3 Mbits/sec                  receiver
-----------------------------------------------------------
Server listening on 5201 (test #3)
-----------------------------------------------------------
Test #2, 127.0.0.1 port 40000:
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate
[  5]   0.00-1.00   sec  6.00 MBytes  50.3 Mbits/sec                  receiver
[  8]   0.00-1.00   sec  6.00 MBytes  50.3 Mbits/sec                  receiver
[SUM]   0.00-1.00   sec  12.0 MBytes   101 Mbits/sec                  receiver
-----------------------------------------------------------
Server listening on 5201 (test #3)
-----------------------------------------------------------
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("two tests at once (-want +got):\n%s", diff)
	}
}

// Documents and lines of sinks that share a Locked writer never mix.
func TestSinksShareALockedWriter(t *testing.T) {
	var got strings.Builder
	w := Locked(&got)
	s := scene{role: engine.Server, intervals: 2}
	var doc strings.Builder
	s.play(NewJSON(&doc, JSONOptions{}))

	text := NewServerText(w, 5201, TextOptions{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { s.play(NewJSON(w, JSONOptions{})) })
		wg.Go(func() { s.play(text.Sink(s.info())) })
	}
	wg.Wait()
	if n := strings.Count(got.String(), doc.String()); n != 8 {
		t.Errorf("%d of 8 documents came through whole", n)
	}
	for line := range strings.Lines(strings.ReplaceAll(got.String(), doc.String(), "")) {
		if !strings.HasSuffix(line, "\n") || strings.Contains(line, "{") {
			t.Errorf("a torn line: %q", line)
		}
	}
}
