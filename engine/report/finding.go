package report

import (
	"strings"

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

// rank is what stands before a finding's sentence in text: its severity, and how sure it is
// unless it is sure. A sentence that names no cause, since too little was seen, has none:
// that is not "ok".
func rank(f *engine.Finding) string {
	switch {
	case f.Severity == engine.SeverityOK && f.Confidence == engine.Unsure:
		return ""
	case f.Severity == engine.SeverityOK || f.Confidence == engine.Sure:
		return f.Severity.String() + ": "
	}
	return f.Severity.String() + " (" + f.Confidence.String() + "): "
}

// offScreen names the flag that does what a key of the dashboard does: whoever reads a
// report has no dashboard before him.
var offScreen = strings.NewReplacer(
	"press + for another stream", "add a stream (-P)",
	"Press + to see", "Add a stream (-P) to see",
	"another stream (+)", "another stream (-P)",
	"Try the other direction with d", "Try the other direction (-R)",
)

// verdictWidth is how wide lines below iperf3's table get; the table itself has about 80
// columns.
const verdictWidth = 80

// verdicts are the lines that follow the results in text: one for each direction, and what
// else holds. What is too long goes on below, aligned.
func verdicts(all []engine.Finding) (lines []string) {
	var said [2]bool
	for i := range all {
		f := &all[i]
		first := false
		for _, dir := range f.Dir.Dirs() {
			first = first || !said[dir]
			said[dir] = true
		}
		lead := f.Dir.String() + ": "
		if !first {
			lead += "also "
		}
		lines = append(lines, wrap(verdictWidth, lead+rank(f), clean(offScreen.Replace(f.Text)))...)
	}
	return lines
}
