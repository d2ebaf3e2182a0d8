// Package host puts all probes together: what this computer is, how busy it is, how it
// reaches an address, and what its kernel counted meanwhile.
//
// [Source] implements engine.HostSource and engine.EvidenceSource; cmd/linerate makes one
// for the session and one for the server. Every probe has a deadline and its own fate: what one cannot read is
// unknown with a reason, and hides nothing else. With [NewAt] the same code reads a
// fixture tree (see hosttest). The package draws no conclusions and changes nothing.
package host
