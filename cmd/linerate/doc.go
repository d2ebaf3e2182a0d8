/*
Linerate says how fast a network link is and what holds it back, while one watches. It
speaks the protocol of iperf3 in both roles: the other end may be any iperf3 -s that is
already there.

# Dashboard

	linerate HOST[:PORT] [flags]

runs a test against the server on HOST and shows it: every stream, their sum as a graph,
every core of this computer and, when the other end is linerate too, of that one, and a
sentence that says what limits the rate. Keys change the test while it runs: + and -
streams, d the direction, a finds the best number of streams, q ends. ? lists all of them.

The test goes on until q unless -t, -n or -k limits it; then the result stays on the screen
until q. The first two seconds after every change are left out of the averages (-O).
Afterwards the summary is printed to the normal screen, and kept in the file last.txt of the
state folder ($XDG_STATE_HOME/linerate, ~/.local/state/linerate on Linux).

Without a terminal (a pipe, cron, TERM=dumb) or with --plain the test is printed as run
does, for 10 seconds.

	linerate demo [flags]

is the same with a server of its own on the loopback interface: no network, no root, no
second computer. --auto looks for the best stream count. --link 10G --per-stream 2.5G paces
the streams so that any computer shows what more streams do on such a link; the screen says
that it is simulated.

# Server

	linerate serve [flags]

serves iperf3 and linerate clients on port 5201, up to --max-tests at the same time, each
alone with its result. It prints a line when a test begins and one when it has ended, and on
a terminal a table of the running ones below.

A linerate client is told how busy this computer is and with what, and, once in a test, how
large packets may be on their way to it: the server finds that out with a few datagrams to the
address that the client has connected from.

# Without a screen

	linerate run HOST[:PORT] [flags]

prints one test of 10 seconds in the layout of iperf3:

	$ linerate run 192.0.2.7 -t 6 -i 3
	Connecting to host 192.0.2.7, port 5201
	[  5] local 192.0.2.1 port 40282 connected to 192.0.2.7 port 5201
	[ ID] Interval           Transfer     Bitrate         Retr  Cwnd
	[  5]   0.00-3.00   sec  3.28 GBytes  9.40 Gbits/sec    0   1.52 MBytes
	[  5]   3.00-6.00   sec  3.29 GBytes  9.41 Gbits/sec    0   1.52 MBytes
	- - - - - - - - - - - - - - - - - - - - - - - - -
	[ ID] Interval           Transfer     Bitrate         Retr
	[  5]   0.00-6.00   sec  6.57 GBytes  9.41 Gbits/sec    0            sender
	[  5]   0.00-6.00   sec  6.57 GBytes  9.40 Gbits/sec                  receiver

	iperf Done.

	upload: ok: Line rate: 9.41 of 9.415 Gbit/s possible with MTU 1500; MTU 9000 would allow 9.90 Gbit/s.

The last lines are not iperf3's: what the rules say, for each direction how grave it is and a
sentence. -J prints one JSON document in iperf3's schema instead, with the same findings
below .linerate.findings, --json-stream one object a line while the test runs.

# Without traffic

	linerate doctor [HOST[:PORT]] [flags]

looks at this computer for two seconds and tells what it is (cores, clock, interfaces, cards
and their slots, settings, firewall), what is wrong or will hold a transfer back, each with
its numbers and what can be done, and what could not be read, with the reason. Without HOST it
looks at the interface of the default route and all hardware that is up; with HOST at the way
to it: a few small datagrams to its port tell the round trip, the routers on the way and the
largest packet that passes. The status is 0 when it could look, whatever it found.

--expect RATE, for a test too, names the line speed that should be there, and a link or a
rate that speaks of a slower one is a finding: linerate doctor 192.0.2.7 --expect 10G.

--json prints one document instead: .findings[] are the same objects as in run's JSON, and
the facts are readings with their reasons. --save-evidence FILE writes everything the
findings rest on, for a bug report: it holds host names, addresses and settings, and only its
owner may read it. --evidence FILE judges such a file instead of this computer. A test saves
its last moment too: linerate run HOST --save-evidence FILE.

# In iperf3's place

	linerate -c HOST [flags]
	linerate -s [flags]

take iperf3's command line: its flags with their short forms in clusters (-RP4) and their
abbreviations (--rev), its output, its error lines, its exit codes. What this version does
not have is refused with a sentence: UDP, SCTP, files (-F), authentication, server limits.

# Flags

Test flags are iperf3's and mean the same everywhere. Sizes (-n -k -l -w) take K, M, G in
steps of 1024, rates (-b --fq-rate) in steps of 1000. "linerate client --help" and the
--help of every command list them:

	$ linerate -P 200 192.0.2.7
	linerate: error: -P "200": expected 1 to 128 streams

# Exit status

	0    done
	1    the test failed
	2    the command line is wrong
	130  cut short by a second q, Ctrl-C or SIGTERM

The first Ctrl-C, SIGTERM or SIGHUP ends a test regularly: results are exchanged, the
summary is printed, the status is 0. Under -c and -s every error is 1, and signals give 0, as
in iperf3 3.19. Errors go to standard error as "linerate: error: …", followed by
"linerate: hint: …" where something can be done.

# Environment

NO_COLOR turns colours off. SSH_CONNECTION tells whether the test runs over the interface of
the SSH session it is started from; the screen then asks before it loads the line hard.
XDG_STATE_HOME moves the state folder.

# Files

last.txt in the state folder is the last summary; crash-*.txt beside it are reports of
crashes, which restore the terminal and say so.
*/
package main
