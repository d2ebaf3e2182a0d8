package session

import (
	"testing"

	"linerate/engine"
)

func TestChanges(t *testing.T) {
	base := engine.Spec{Host: "h", Streams: 1}.Defaults()
	for _, tt := range []struct {
		want   string
		change func(*engine.Spec)
	}{
		{"", func(*engine.Spec) {}},
		{"streams 1→8", func(s *engine.Spec) { s.Streams = 8 }},
		{"upload → both ways", func(s *engine.Spec) { s.Direction = engine.Both }},
		{"streams 1→2, upload → download", func(s *engine.Spec) { s.Streams, s.Direction = 2, engine.Download }},
		{"default→bbr", func(s *engine.Spec) { s.Congestion = "bbr" }},
		{"rate unlimited→1.00 Gbit/s", func(s *engine.Spec) { s.Bitrate = 1e9 }},
		{"window default→4.00 MiB", func(s *engine.Spec) { s.Window = 4 << 20 }},
		{"streams 1→2, other options", func(s *engine.Spec) { s.Streams, s.ZeroCopy = 2, true }},
	} {
		to := base
		tt.change(&to)
		if got := changes(base, to); got != tt.want {
			t.Errorf("changes = %q, want %q", got, tt.want)
		}
	}
}
