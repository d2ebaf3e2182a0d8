package diagnose

import (
	"fmt"
	"strings"

	"linerate/engine"
)

const (
	// tableFull is the fill of the connection tracking table from which new connections
	// are refused soon.
	tableFull = 0.9
	// manyRules is how many rules a packet may walk before their cost shows.
	manyRules = 50
)

// walksRules reports a firewall with so many rules that they can cost a core.
func (e *Evidence) walksRules(side engine.Side) bool {
	f := &e.end(side).Firewall
	return f.Rules.Value > manyRules && !(f.Tracked.Known() && !f.Tracked.Value)
}

// filterCost (R48): the connection table is full, or the rules fill a core. No remedy
// ever is to switch a firewall off.
func filterCost(e *Evidence, dir engine.Direction) ruling {
	return e.eachComputer(func(side engine.Side) ruling {
		end := e.end(side)
		sys := e.system(side)
		f := engine.Finding{
			Severity: engine.SeverityWarning, Confidence: engine.Sure, Side: e.side(side), Core: -1,
		}
		table, ok := end.Vitals.Conntrack.Get()
		fill := 0.0
		if table.Max > 0 {
			fill = float64(table.Count) / float64(table.Max)
		}
		switch {
		case ok && (fill >= tableFull || table.Failed > 0):
			f.Text = fmt.Sprintf("The %sconnection tracking table is %s full", e.where(side), percent(fill))
			f.Short = fmt.Sprintf("%sconntrack table %s full", e.where(side), percent(fill))
			if table.Failed > 0 {
				f.Text += fmt.Sprintf(" and %s dropped for it", plural(float64(table.Failed), "packet was", "packets were"))
			}
			f.Text += "."
			f.Evidence = e.from(dir, e.vital("tracked connections", float64(table.Count), "", side),
				e.vital("at most", float64(table.Max), "", side), e.vital("not tracked", float64(table.Failed), "", side))
			f.Remedy = []engine.Remedy{sys.sysctl("Make the table larger.", fmt.Sprintf("net.netfilter.nf_conntrack_max=%d", 2*max(table.Max, 1<<16))), e.untracked(side)}
			return holds(f)
		case e.walksRules(side):
			return e.rulesFillCore(dir, side, f)
		case !ok && !end.Firewall.Rules.Known():
			return e.notSeen(side, "connection tracking", end.Vitals.Conntrack.Why())
		case !end.Firewall.Rules.Known():
			return e.notSeen(side, "firewall rules", end.Firewall.Rules.Why())
		}
		return no("the firewall is no burden")
	})
}

// rulesFillCore blames the rules for a core that is full of packets: surely on a router,
// where every packet is one; on an end host joined packets walk them once.
func (e *Evidence) rulesFillCore(dir engine.Direction, side engine.Side, f engine.Finding) ruling {
	cores, ok := e.cores(side).Get()
	if !ok {
		return e.notSeen(side, "cores", e.cores(side).Why())
	}
	hot, _ := e.hottest(side, cores)
	_, helping := e.packetDaemon(side, hot.Core)
	if !helping && (hot.SoftIRQ < handling || hot.Idle > leftOver) {
		return no(fmt.Sprintf("%d rules, but core %d spends only %s in softirq", e.end(side).Firewall.Rules.Value, hot.Core, percent(hot.SoftIRQ)))
	}
	sys := e.system(side)
	rules := e.end(side).Firewall.Rules.Value
	f.Core = hot.Core
	f.Text = fmt.Sprintf("Every packet may walk %d firewall rules, and %score %d is full of packets (%s in softirq).",
		rules, e.where(side), hot.Core, percent(hot.SoftIRQ))
	f.Short = fmt.Sprintf("%sfirewall rules fill core %d", e.where(side), hot.Core)
	f.Evidence = e.from(dir, e.fact("firewall rules", float64(rules), "", side), e.share(fmt.Sprintf("core %d softirq", hot.Core), hot.SoftIRQ, side))
	f.Remedy = []engine.Remedy{sys.say("Accept established connections in the first rule, before all others."), e.untracked(side)}
	if !e.isRouter(side) {
		f.Severity, f.Confidence = engine.SeverityLimit, engine.Likely
		return holds(f)
	}
	offload := sys.do("Let established flows take the short way (flow offload).",
		"nft add flowtable inet filter ft '{ hook ingress priority 0; devices = { IF1, IF2 }; }'", "the same in /etc/nftables.conf, with: ct state established flow add @ft")
	if sys.family == openWrtLinux {
		offload.Temporary = ""
		offload.Persistent = "uci set firewall.@defaults[0].flow_offloading='1'; uci commit firewall; service firewall restart"
	}
	f.Remedy = append([]engine.Remedy{offload}, f.Remedy...)
	return holds(f)
}

// untracked takes the test's port out of connection tracking, to see what that costs. At the
// server packets come to that port, at the client from it.
func (e *Evidence) untracked(side engine.Side) engine.Remedy {
	port, word, short := e.Test.Spec.Port, "dport", "--dport"
	if port <= 0 {
		port = engine.DefaultPort
	}
	if (side == engine.Local) == (e.Test.Role == engine.Client) {
		word, short = "sport", "--sport"
	}
	command := fmt.Sprintf("nft add table inet lr; nft 'add chain inet lr pre { type filter hook prerouting priority raw; }'; "+
		"nft add rule inet lr pre tcp %s %d notrack; afterwards: nft delete table inet lr", word, port)
	if strings.HasPrefix(e.end(side).Firewall.Kind.Value, "iptables") {
		rule := fmt.Sprintf("PREROUTING -p tcp %s %d -j CT --notrack", short, port)
		command = fmt.Sprintf("iptables -t raw -A %s; afterwards: iptables -t raw -D %s", rule, rule)
	}
	return e.system(side).do("Try without tracking for the test's port alone, if the firewall lets it in whatever its state; all else stays as it is.", command, "")
}
