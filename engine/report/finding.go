package report

import (
	"linerate/engine"
)

// findingJSON is an engine.Finding in JSON; doc.go says what the keys hold.
type findingJSON struct {
	Code       string         `json:"code"`
	Title      string         `json:"title"`
	Text       string         `json:"text"`
	Severity   string         `json:"severity"`
	Confidence string         `json:"confidence"`
	Side       string         `json:"side"`
	Direction  string         `json:"direction"`
	Evidence   []evidenceJSON `json:"evidence"`
	Remedy     []remedyJSON   `json:"remedy"`
	Proof      string         `json:"proof"`
}

type evidenceJSON struct {
	Name  string `json:"name"`
	Value number `json:"value"`
	Unit  string `json:"unit"`
	Side  string `json:"side"`
	Age   number `json:"age"`
}

type remedyJSON struct {
	Text       string `json:"text"`
	Temporary  string `json:"temporary"`
	Persistent string `json:"persistent"`
}

func findings(all []engine.Finding) []findingJSON {
	list := make([]findingJSON, 0, len(all))
	for i := range all {
		list = append(list, finding(&all[i]))
	}
	return list
}

func finding(f *engine.Finding) findingJSON {
	js := findingJSON{
		Code: f.Code, Title: f.Title, Text: f.Text,
		Severity: f.Severity.String(), Confidence: f.Confidence.String(), Side: f.Side.String(), Direction: f.Dir.String(),
		Evidence: []evidenceJSON{}, Remedy: []remedyJSON{}, Proof: f.Proof,
	}
	for _, e := range f.Evidence {
		js.Evidence = append(js.Evidence, evidenceJSON{e.Name, number(e.Value), e.Unit, e.Side.String(), seconds(e.Age)})
	}
	for _, r := range f.Remedy {
		js.Remedy = append(js.Remedy, remedyJSON(r))
	}
	return js
}

// verdicts are the lines that follow the results in text: one for each direction, and what
// else holds.
func verdicts(all []engine.Finding) (lines []string) {
	var said [2]bool
	for i := range all {
		f := &all[i]
		first := false
		for _, dir := range f.Dir.Dirs() {
			first = first || !said[dir]
			said[dir] = true
		}
		if first {
			lines = append(lines, f.Dir.String()+": "+f.Severity.String()+": "+f.Text)
		} else {
			lines = append(lines, f.Dir.String()+": also "+f.Severity.String()+": "+f.Text)
		}
	}
	return lines
}
