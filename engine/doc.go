// Package engine is the vocabulary of a throughput test, and this comment is the map
// of the program.
//
// The package holds types without input or output: what is asked ([Spec]), what is
// counted ([Counters], [Interval], [Result]), what is concluded ([Finding], [Verdict],
// without a test [Examination]) and what a screen shows ([Snapshot] with its [History]).
// All values are in base units (bits per second, bytes, time.Duration, shares from 0 to 1)
// and are scaled only when printed, by engine/unit.
//
// # Packages
//
//	probes                 vocabulary of host evidence; Reading[T]
//	probes/cpu, memory, nic, netstack, pressure, sysctl, firewall, disk
//	                       read one noun each from the running system
//	probes/pathmtu, pathrtt
//	                       probe the path to a host with a few datagrams
//	probes/host            all of them together: the HostSource, EvidenceSource, PathSource
//	probes/internal/kfs    whole-file reads of /proc and /sys through fs.FS
//	probes/internal/rtnl   netlink and ethtool plumbing
//	probes/internal/nfnl   the packet filters' netlink
//	probes/internal/echo   datagrams that a host answers, for the two of the path
//	engine                 this vocabulary
//	engine/unit            print and parse bits, bytes, durations
//	engine/internal/wire   the iperf3 control formats: bytes only, no sockets
//	engine/internal/sock   data sockets: options, send and receive loops, TCP_INFO
//	engine/iperf           client and server of the iperf3 protocol
//	engine/diagnose        evidence → findings; pure rules
//	engine/report          iperf3's text, JSON and JSON stream; the summary; doctor
//	engine/session         the conductor: runs tests, polls the host, applies the rules,
//	                       publishes snapshots
//	tui                    the dashboard; panes and charts below tui/internal
//	cmd/linerate           flags, subcommands, exit codes
//
// Tests get computers out of fixtures from probes/host/hosttest, networks of namespaces from
// probes/nstest and, with programs on them, cmd/linerate/internal/lab, whole sessions in fake
// time from engine/session/sessiontest.
//
// # Who may import whom
//
// Imports go one way: probes ← engine ← mechanisms ← session ← tui, cmd. Mechanisms do
// not know each other; tui sees only the vocabularies, engine/unit and its own internals;
// nobody imports cmd. cmd/linerate/repo_test.go holds the exact table and refuses
// everything that is not in it.
//
// # How data flows
//
// Once, in one direction. Sockets' counters and host readings go to engine/session, which
// builds one immutable Snapshot per tick and puts it into a newest-wins mailbox that the
// screen reads; the same intervals go, without loss, to a [Sink] for text, JSON and
// recordings. What the operator asks goes back through one method, Do(ctx, [Command]).
// Nothing that moves bytes ever waits for the screen, the disk or the peer's manners.
//
// Without a test (linerate doctor) session gathers the same evidence, diagnose makes an
// Examination of it and report writes that.
package engine
