// Package nic reads network interfaces: what kind they are, how fast, with which
// offloads, what passed through them and their queues, the card behind them with its slot,
// the devices between them and the wire, and which one the kernel uses towards an
// address.
//
// probes/host calls it. Most answers come from rtnetlink and ethtool, which speak of the
// network namespace this process is in; sysfs adds what only it has, and is believed
// only where it shows the same namespace. A speed is given where it means something: for
// hardware, and for a VLAN, bond or bridge that ends in hardware. The package changes
// nothing and sends nothing.
package nic
