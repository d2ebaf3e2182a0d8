// Package memory reads how fast the RAM of this computer is: what the firmware says of its
// modules in the SMBIOS table, without any traffic or load.
//
// probes/host calls it, for the rule that the memory, not the cores, is full. Only root may
// read the table; boards without SMBIOS, as most ARM ones, and containers have none. It draws
// no conclusions and changes nothing.
package memory
