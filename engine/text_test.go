package engine

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSpecThroughJSON(t *testing.T) {
	want := Spec{Host: "box", Port: 5201, Streams: 4, Direction: Both, Bitrate: 1e9, Affinity: -1, SrvAffinity: 2}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Spec
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// What is left out is unset, which for these is not zero.
	got = Spec{}
	if err := json.Unmarshal([]byte(`{"direction":"download"}`), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Spec{Streams: 1, Direction: Download, Affinity: -1, SrvAffinity: -1}, got); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}

func TestWordsThroughJSON(t *testing.T) {
	type words struct {
		Dir  Direction `json:"dir"`
		Role Role      `json:"role"`
	}
	for _, want := range []words{{Upload, Client}, {Download, Server}, {Both, Client}} {
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got words
		if err := json.Unmarshal(text, &got); err != nil || got != want {
			t.Errorf("%s: got %+v, error %v", text, got, err)
		}
	}
	for _, text := range []string{`{"dir":"sideways"}`, `{"role":"judge"}`, `{"dir":3}`} {
		var got words
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s was read as %+v", text, got)
		}
	}
}
