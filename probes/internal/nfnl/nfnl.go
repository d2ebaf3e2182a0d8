package nfnl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"linerate/probes"
)

// Ruleset is what a packet filter holds.
type Ruleset struct {
	Chains []Chain `json:"chains"`
	Rules  int     `json:"rules"`
}

// Chain is a list of rules.
type Chain struct {
	Table string `json:"table"`
	Name  string `json:"name"`
	Base  bool   `json:"base"` // packets enter it from a hook, not only from another chain
}

// errDenied is the answer to who may not ask.
var errDenied = probes.Missing{Status: probes.Denied, Reason: "listing firewall rules needs CAP_NET_ADMIN"}

// Attributes of NFT_MSG_NEWCHAIN, linux/netfilter/nf_tables.h, behind struct nfgenmsg.
const (
	chainTable, chainName, chainHook = 1, 3, 4

	nfgenmsgSize = 4
)

// parseChain reads an NFT_MSG_NEWCHAIN message.
func parseChain(msg []byte) (Chain, error) {
	if len(msg) < nfgenmsgSize {
		return Chain{}, errors.New("the kernel's message is too short")
	}
	var c Chain
	for b := msg[nfgenmsgSize:]; len(b) >= 4; {
		size := int(binary.NativeEndian.Uint16(b))
		if size < 4 || size > len(b) {
			break
		}
		switch binary.NativeEndian.Uint16(b[2:]) & 0x3fff { // without the flags of nesting
		case chainTable:
			c.Table = text(b[4:size])
		case chainName:
			c.Name = text(b[4:size])
		case chainHook:
			c.Base = true
		}
		b = b[min((size+3)&^3, len(b)):]
	}
	if c.Table == "" || c.Name == "" {
		return c, errors.New("a chain without a name")
	}
	return c, nil
}

// text is a string with its closing zero.
func text(value []byte) string {
	for i, c := range value {
		if c == 0 {
			return string(value[:i])
		}
	}
	return string(value)
}

// layout says where the fields of struct ipt_entry and struct ip6t_entry are
// (linux/netfilter_ipv4/ip_tables.h and its sister). Both end with the matches; the target
// is at an offset that the entry names.
type layout struct {
	targetOffset, nextOffset int
	size                     int // on 32-bit x86, the least; with the padding of others 168
}

var (
	layout4 = layout{targetOffset: 88, nextOffset: 90, size: 112}
	layout6 = layout{targetOffset: 140, nextOffset: 142, size: 164}
)

// Within struct xt_entry_target and xt_error_target (linux/netfilter/x_tables.h).
const (
	targetName     = 2
	targetNameSize = 29
	targetData     = 32
	errorNameSize  = 30
)

// parseEntries counts the rules in a table of ip_tables and names the chains that were
// added to it. hooks is the mask of the built-in chains.
//
// The kernel holds a table as one list. A built-in chain ends with its policy; a chain
// that was added begins with an entry whose target is ERROR and whose data is its name, and
// ends with a RETURN; an ERROR of its own ends the list. None of these is a rule.
func parseEntries(entries []byte, hooks uint32, at layout) (rules int, chains []string, err error) {
	for len(entries) > 0 {
		if len(entries) < at.size {
			return 0, nil, errEntries
		}
		target := int(binary.NativeEndian.Uint16(entries[at.targetOffset:]))
		next := int(binary.NativeEndian.Uint16(entries[at.nextOffset:]))
		if target < at.size || next < target+targetData || next > len(entries) {
			return 0, nil, errEntries
		}
		rules++
		if text(entries[target+targetName:target+targetName+targetNameSize]) == "ERROR" && next >= target+targetData+errorNameSize {
			chains = append(chains, text(entries[target+targetData:target+targetData+errorNameSize]))
		}
		entries = entries[next:]
	}
	if len(chains) == 0 {
		return 0, nil, errEntries
	}
	added := chains[:len(chains)-1]
	rules -= bits.OnesCount32(hooks) + 2*len(added) + 1
	if rules < 0 {
		return 0, nil, errEntries
	}
	return rules, added, nil
}

var errEntries = errors.New("not the entries of a table")

// family names the flavour of ip_tables in errors.
func family(v6 bool) string {
	if v6 {
		return "ip6_tables"
	}
	return "ip_tables"
}

func legacyError(table string, v6 bool, err error) error {
	return fmt.Errorf("table %s of %s: %w", table, family(v6), err)
}
