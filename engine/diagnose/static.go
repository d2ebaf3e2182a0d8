package diagnose

import (
	"slices"

	"linerate/engine"
	"linerate/probes"
)

// Static gives what holds of a computer and its paths while nothing flows, whatever e says
// of traffic: of the findings that rest on how things are set up, those whose cause is not
// among them. Gravest first, the surest of those first, else in the order of the rules. A
// finding that is the same both ways is given once. There is always one: that nothing was
// found is a finding too.
func Static(e Evidence) []engine.Finding {
	e.Test.Idle, e.Test.Spec.Direction = true, engine.Both
	var all []candidate
	for _, dir := range engine.Both.Dirs() {
		for i := range rules {
			if v := rules[i].ask(&e, dir, len(all) > 0); v.state == Holds {
				all = addStatic(all, candidate{v.finding, i})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return a.rank - b.rank })
	var shown []engine.Finding
	for _, c := range all {
		switch last := rules[c.rank].last; {
		case explained(c, all) || last && len(all) > 1:
			continue
		case last: // it was asked of the first direction only
			c.finding.Dir = engine.Both
		}
		shown = append(shown, c.finding)
	}
	return gravestFirst(shown)
}

// addStatic adds a finding, or notes that one holds the other way too.
func addStatic(all []candidate, c candidate) []candidate {
	for i := range all {
		if f := &all[i].finding; sameStatic(f, &c.finding) {
			f.Dir = engine.Both
			return all
		}
	}
	return append(all, c)
}

func sameStatic(a, b *engine.Finding) bool {
	return a.Code == b.Code && a.Side == b.Side && a.Text == b.Text
}

func gravestFirst(all []engine.Finding) []engine.Finding {
	slices.SortStableFunc(all, func(a, b engine.Finding) int {
		if a.Severity != b.Severity {
			return int(b.Severity) - int(a.Severity)
		}
		return int(b.Confidence) - int(a.Confidence)
	})
	return all
}

// Examination puts the evidence of one or more interfaces of this computer together with
// what the rules say of it: of evidence of a running test its verdicts, else Static. At
// least one must be given; what they share is taken from the first.
func Examination(all []Evidence) engine.Examination {
	first := &all[0]
	near := &first.Ends[engine.Local]
	x := engine.Examination{
		Target: first.Test.Spec.Host, Dest: first.Path.Dest, Source: first.Path.Source,
		Traffic: !first.Test.Idle && !first.silent(),
		Machine: near.Host, Cores: near.Cores, Window: near.Window,
		Settings: near.Settings, Firewall: near.Firewall, Memory: near.Memory, Vitals: near.Vitals,
		Gateway: first.Path.Gateway, Listener: first.Path.Listener, MTU: first.Path.MTU, RTT: first.Path.RTT,
	}
	if x.Target != "" {
		x.Port = first.Test.Spec.Port
	}
	for i := range all {
		x.Links = append(x.Links, linkOf(&all[i]))
	}
	if x.Traffic {
		x.Findings = engine.Findings(Verdicts(*first))
		return x
	}
	for i := range all {
		for _, f := range Static(all[i]) {
			if !slices.ContainsFunc(x.Findings, func(g engine.Finding) bool { return sameStatic(&f, &g) }) {
				x.Findings = append(x.Findings, f)
			}
		}
	}
	if len(x.Findings) > 1 {
		x.Findings = slices.DeleteFunc(x.Findings, func(f engine.Finding) bool { return f.Code == NoCause })
	}
	x.Findings = gravestFirst(x.Findings)
	return x
}

func linkOf(e *Evidence) engine.Link {
	near := &e.Ends[engine.Local]
	roof := e.nearRoof()
	l := engine.Link{
		NIC: near.NIC, Adapter: near.Adapter, Qdiscs: near.Vitals.Qdiscs,
		Ceiling: probes.Unknown[float64](roof.Status, roof.Why()),
	}
	if c, ok := roof.Get(); ok {
		l.Ceiling = probes.Got(c.Bps)
	}
	return l
}
