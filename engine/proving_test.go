package engine

import (
	"encoding/json"
	"testing"
)

func TestProvableIsTheGravestWithAProof(t *testing.T) {
	verdict := func(code string, severity Severity, proof Proof) Verdict {
		return Verdict{Main: Finding{Code: code, Severity: severity, Proof: proof}}
	}
	for name, test := range map[string]struct {
		verdicts []Verdict
		want     string // "" none
	}{
		"none":                     {nil, ""},
		"no proof":                 {[]Verdict{verdict("R17", SeverityWarning, ProofNone)}, ""},
		"the only one":             {[]Verdict{verdict("R09", SeverityOK, ProofAddStream)}, "R09"},
		"the graver":               {[]Verdict{verdict("R09", SeverityOK, ProofAddStream), verdict("R11", SeverityLimit, ProofAddStream)}, "R11"},
		"the first of equals":      {[]Verdict{verdict("R10", SeverityLimit, ProofAddStream), verdict("R11", SeverityLimit, ProofAddStream)}, "R10"},
		"a grave one without":      {[]Verdict{verdict("R09", SeverityOK, ProofAddStream), verdict("R17", SeverityFault, ProofNone)}, "R09"},
		"what is only also true":   {[]Verdict{{Main: Finding{Code: "R19b"}, Also: []Finding{{Code: "R38", Proof: ProofCongestion}}}}, ""},
		"one that cannot be built": {[]Verdict{verdict("R47", SeverityLimit, ProofDiscard)}, "R47"},
	} {
		got := ""
		if f := Provable(test.verdicts); f != nil {
			got = f.Code
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestProvingIsActiveUntilItIsOver(t *testing.T) {
	for phase, want := range map[ProofPhase]bool{ProofIdle: false, ProofWaiting: true, ProofTrying: true, ProofReturning: true, ProofOver: false} {
		if got := (Proving{Phase: phase}).Active(); got != want {
			t.Errorf("%v: active %v, want %v", phase, got, want)
		}
	}
}

func TestCheckStateIsWrittenInWords(t *testing.T) {
	text, err := json.Marshal([]CheckState{RuledOut, Unseen, Holds})
	if want := `["ruled out","cannot tell","holds"]`; err != nil || string(text) != want {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
}
