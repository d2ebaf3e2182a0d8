// Package report writes what a test says: iperf3's text ([Text], [ServerText]), its JSON
// document ([JSON]) and JSON stream ([JSONStream]), and the summary that stays on the
// normal screen after the dashboard ([Summary]); and what is known without a test
// ([Doctor], [DoctorJSON]). cmd/linerate is the caller.
//
// The first four are [engine.Sink]s. They write and do nothing else: no reading of the
// host, no clock but for --timestamps, no exit. A failing writer is kept as an error for
// Err. They do not print a test's own error as text, which belongs on stderr.
//
// # Text
//
// The text is iperf3 3.18's to the character, checked against captured output of both
// ends (testdata/iperf3-3.18, made by testdata/capture). It differs on purpose where
// iperf3 says something that is not so:
//
//   - the half of a test cut short that the other end never told is "(receiver statistics
//     not available)", where iperf3 has 0.00 Bytes;
//   - a server that is told of the end repeats no interval;
//   - with -k, -V says "100 blocks to send", not "100 bytes to send".
//
// # JSON
//
// The document is iperf3 3.18's: keys, order, layout and form of numbers. A server's holds
// the client's half too where the client told it, where iperf3 has zeros; target_bitrate
// stands once in its start. Where a number is not known, a key that iperf3 leaves out at
// times (retransmits, snd_cwnd …) is left out, and one that is always there is 0, with its
// place and the reason in linerate.unknown.
//
// The keys, with their units:
//
//	start                  what was agreed; only version and system_info, and connected
//	                       empty, when no payload ever flowed
//	  connected[]          data connections in order of creation
//	    socket             iperf3's number for it: 5, 7, 9 … on a client, 5, 8, 10 … on a server
//	    local_host, local_port, remote_host, remote_port
//	  version              of this program
//	  system_info          as uname -a
//	  timestamp            time: the start as text, GMT; timesecs: in seconds since 1970
//	  connecting_to        host and port as asked (client)
//	  accepted_connection  host and port of the control connection's far end (server)
//	  cookie               36 characters that name the test
//	  tcp_mss              bytes, as asked with -M; otherwise
//	  tcp_mss_default      bytes, of the control connection
//	  target_bitrate       bits/s per stream; 0 unlimited
//	  fq_rate              bits/s per stream, paced by the kernel; 0 off
//	  sock_bufsize         bytes asked with -w; 0 the kernel tunes
//	  sndbuf_actual, rcvbuf_actual  bytes granted on the first data connection
//	  test_start           protocol "TCP", num_streams per direction, blksize in bytes, omit
//	                       and duration in s (0 endless), bytes and blocks to move (0 by
//	                       time), reverse and bidir 0 or 1, tos, target_bitrate and fqrate in
//	                       bits/s, interval in s (0 none)
//	intervals[]            one per report
//	  streams[]            one per connection
//	    socket
//	    start, end         s since the start, or since the end of the omitted part
//	    seconds            s from start to end
//	    bytes              payload sent, or received where sender is false
//	    bits_per_second    bits/s
//	    retransmits        segments sent again in this interval (sender)
//	    snd_cwnd, snd_wnd  bytes: congestion window, the peer's receive window (sender)
//	    rtt, rttvar        µs, smoothed (sender)
//	    pmtu               bytes (sender)
//	    omitted            part of -O
//	    sender             this end sends
//	  sum                  over the streams of the only direction, or client to server
//	  sum_bidir_reverse    server to client (--bidir)
//	end                    {} when nothing was measured
//	  streams[]            sender and receiver: the accounts of the two ends, with socket,
//	                       start, end, seconds, bytes and bits_per_second as above, without
//	                       the omitted part
//	    sender             with retransmits; max_snd_cwnd and max_snd_wnd in bytes; max_rtt,
//	                       min_rtt and mean_rtt in µs, 0 when the sender is the other end
//	  sum_sent, sum_received                              by direction, as sum
//	  sum_sent_bidir_reverse, sum_received_bidir_reverse  as sum_bidir_reverse
//	  cpu_utilization_percent  % of one core that a whole process used: host_total,
//	                       host_user, host_system here, remote_total, remote_user,
//	                       remote_system there
//	  sender_tcp_congestion, receiver_tcp_congestion  names of the algorithms
//	error                  one sentence; the test was not completed
//	title, extra_data      as given with -T and --extra-data
//	server_output_json     what --get-server-output brought, of a server with -J
//	server_output_text     and of any other
//	linerate               what iperf3 has no key for; only there when it says something
//	  format               1; see [Format]
//	  unknown[]            field: a place that is 0 for want of knowledge; reason: why
//	  findings[]           what the rules say at the end of the test: the verdict of each
//	                       direction first, the gravest of them before the other, then what
//	                       else holds (linerate run only, not under -c)
//	    code               of the rule, "R24"; it stays the same
//	    title              a few words
//	    text               the sentence: who is full, the number, what to do
//	    severity           "ok", "limit" (what bounds a healthy test), "warning" (costs speed
//	                       and should be fixed), "fault"
//	    confidence         "unsure", "likely", "sure"
//	    side               "local", "far", "path"
//	    direction          "upload", "download", "both ways"
//	    evidence[]         the numbers it rests on: name; value, in unit ("bit/s", "B", "s",
//	                       "share", "1/s", "Hz" …, "" a count); side; age in s
//	    remedy[]           text: what can be done; temporary and persistent: the commands, ""
//	                       none. Nothing of it is done unasked
//	    proof              the one action that would show whether it is right: "+" one stream
//	                       more, "R" the other direction, "one-way", "congestion", "rate-95",
//	                       "pin", "mtu", "discard", "udp"; "" none
//
// The stream has one line per event, {"event": name, "data": value}: start, interval …,
// error, server_output_json or server_output_text, linerate, linerate_findings (the list of
// findings), end, with the values above.
//
// # JSON of doctor
//
// One document, laid out like the others. What may be missing is a reading: an object of
// status ("ok", "absent", "unsupported", "denied", "failed", "not read") and value, or, where
// the status is not ok, reason. Readings and the objects marked with a star are those of
// engine/diagnose/EVIDENCE.md, field by field.
//
//	format                 1; see [DoctorFormat]
//	version                of the program that looked
//	taken                  when, RFC 3339
//	target                 only where a host was named
//	  host, port           as asked
//	  address, source      of the host, and the local one used for it
//	  gateway              reading: the host is this computer's default gateway
//	  listener             reading: the program behind the port, where the host is this computer
//	  mtu, rtt             PathMTU*, PathRTT*
//	findings[]             as above, but the gravest first; there is always one
//	computer               reading of Host*
//	load
//	  window               s that it covers; counters are compared over it
//	  cores                reading of CoreLoad*
//	  pressure, quota, thermal  Pressure*, Quota*, Thermal*: what happened in the window
//	interfaces[]           the one that leads to the host, or all that matter
//	  nic                  reading of NIC*
//	  adapter              Adapter*: the card behind it
//	  qdiscs               reading of Qdisc*
//	  ceiling_bps          reading: TCP payload that the line speed leaves, bits/s
//	settings               by dotted name, each a reading of Setting*
//	firewall               Firewall*
//	memory_bps             reading: peak bandwidth of the RAM, bits/s
//	conntrack              reading of Conntrack*
//	unread[]               what could not be read: subject (the interface, or ""), what, status
//	                       and reason
package report
