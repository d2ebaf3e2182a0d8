package wire

import "fmt"

// Code is an error number of iperf3 (i_errno in iperf_api.h). The numbers are the same
// in all versions; the texts here are our own.
type Code int32

// Codes that linerate sends or decides on.
const (
	CodeDuration      Code = 5
	CodeStreams       Code = 6
	CodeBlockSize     Code = 7
	CodeWindow        Code = 8
	CodeMSS           Code = 10
	CodeOmit          Code = 12
	CodeBurst         Code = 15
	CodeUDPBlockSize  Code = 20
	CodeTOS           Code = 21
	CodeRateLimit     Code = 27
	CodeMaxDuration   Code = 37
	CodeControlClosed Code = 109
	CodeRecvParams    Code = 114
	CodeRecvResults   Code = 117
	CodeAccessDenied  Code = 121
	CodeFlowLabel     Code = 127
	CodeProtocol      Code = 131
	CodeAffinity      Code = 132
	CodeCongestion    Code = 134
	CodeAuth          Code = 142
	CodeNoData        Code = 144
	CodeAccept        Code = 104
	CodeStreamInit    Code = 201
	CodeStreamAccept  Code = 204
	CodeExpired       Code = 160
)

// Hidden in a table, not in a switch: the texts are data, and a test walks them.
var codeTexts = map[Code]string{
	5:  "the duration is out of range",
	6:  "too many parallel streams",
	7:  "the block size is out of range",
	8:  "the window is too large",
	10: "the segment size is too large",
	11: "it cannot send without copying (-Z)",
	12: "the omitted time is out of range",
	14: "it cannot open its file",
	15: "the burst is out of range",
	20: "the UDP block size is out of range",
	21: "the type of service is out of range",
	27: "the rate is above the server's limit",
	34: "a file cannot be received over UDP",
	37: "the duration is above the server's maximum",
	39: "it cannot skip copying received data",
	40: "the DSCP value is out of range",

	100: "it could not set up a test",
	101: "it could not set up a test",
	102: "it cannot listen on its port",
	103: "it cannot connect",
	104: "it could not accept a connection",
	105: "it could not send the cookie",
	106: "it did not receive the cookie",
	107: "it could not write to the control connection",
	108: "it could not read from the control connection",
	109: "the control connection was closed early",
	110: "it received a message it does not know",
	111: "it could not send a control message",
	112: "it could not receive a control message",
	113: "it could not send the parameters",
	114: "it did not understand the parameters",
	115: "it could not write its results",
	116: "it could not send its results",
	117: "it did not understand the results",
	118: "waiting for its sockets failed",
	119: "the client has terminated",
	120: "the server has terminated",
	121: "the server is busy with another test",
	122: "it cannot set TCP_NODELAY",
	123: "it cannot set the segment size",
	124: "it cannot set the socket buffer size",
	125: "it cannot set the type of service",
	126: "it cannot set the traffic class",
	127: "it cannot set the flow label",
	128: "it cannot reuse its address",
	129: "it cannot make a socket non-blocking",
	130: "it cannot set the window",
	131: "it does not support this protocol",
	132: "it cannot pin itself to that core",
	133: "it could not become a daemon",
	134: "it does not have that congestion control algorithm",
	135: "it cannot write its process id",
	136: "it cannot set IPV6_V6ONLY",
	137: "it does not support SCTP",
	138: "it does not support the SCTP option",
	139: "it does not support the SCTP option",
	140: "it cannot pace its sockets",
	141: "its socket buffers are smaller than asked",
	142: "it asks for a user name and password",
	143: "it cannot bind to that interface",
	144: "it received no data for too long",
	145: "it cannot forbid fragmentation",
	146: "it cannot bind to that interface",
	147: "it cannot bind to that interface",
	148: "it cannot set the TCP user timeout",
	150: "it could not start a thread",
	151: "it could not stop a thread",
	152: "it could not join a thread",
	153: "it could not prepare a thread",
	154: "it could not prepare a thread",
	155: "it cannot set keepalive",
	156: "it cannot set the keepalive idle time",
	157: "it cannot set the keepalive interval",
	158: "it cannot set the keepalive count",
	159: "it could not prepare a thread",
	160: "the test ran longer than the server allows",

	200: "it could not create a data stream",
	201: "it could not initialise a data stream",
	202: "it could not listen for data streams",
	203: "it could not connect a data stream",
	204: "it could not accept a data stream",
	205: "it could not write to a data stream",
	206: "it could not read from a data stream",
	207: "a data stream was closed early",
	208: "a data stream has a number it does not know",
	300: "it could not create a timer",
	301: "it could not update a timer",
}

// Text says in half a sentence what the peer complained about, "it" being the peer.
// An unknown number is told as such.
func (c Code) Text() string {
	if text, ok := codeTexts[c]; ok {
		return text
	}
	if c == 0 {
		return "an error without a number"
	}
	return fmt.Sprintf("error %d", int32(c))
}
