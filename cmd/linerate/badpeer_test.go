//go:build linux

package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"
)

// badPeer is a program of its own: badpeer PORT CONDUCT listens on 127.0.0.1 and treats
// every connection badly until it is killed.
func badPeer() {
	ln, err := net.Listen("tcp4", "127.0.0.1:"+os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "badpeer:", err)
		os.Exit(1)
	}
	conduct, known := conducts[os.Args[2]]
	if !known {
		fmt.Fprintln(os.Stderr, "badpeer: unknown conduct", os.Args[2])
		os.Exit(1)
	}
	for {
		conn, err := ln.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			conduct(conn)
		}()
	}
}

// The bytes are those of iperf3's control protocol: a state is one byte, 9 asks for the
// parameters, 0xff is "busy", 0xfe an error with two numbers behind it.
var conducts = map[string]func(net.Conn){
	"http": func(c net.Conn) {
		io.CopyN(io.Discard, c, 37)
		io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nServer: \x1b[31mred\x1b[m\r\n\r\n")
	},
	"silent": func(c net.Conn) { io.Copy(io.Discard, c) },
	"closes": func(c net.Conn) { io.CopyN(io.Discard, c, 37) },
	"busy": func(c net.Conn) {
		io.CopyN(io.Discard, c, 37)
		c.Write([]byte{0xff})
	},
	"toolong": func(c net.Conn) {
		io.CopyN(io.Discard, c, 37)
		c.Write([]byte{0xfe, 0, 0, 0, 37, 0, 0, 0, 0})
		io.Copy(io.Discard, c)
	},
	"half": func(c net.Conn) { // takes the parameters and never goes on
		io.CopyN(io.Discard, c, 37)
		c.Write([]byte{9})
		io.Copy(io.Discard, c)
	},
	"noise": func(c net.Conn) {
		io.CopyN(io.Discard, c, 37)
		io.WriteString(c, strings.Repeat("\x07\x1b]0;owned\x07", 1000))
		time.Sleep(time.Second)
	},
}
