package report

import (
	"io"
	"time"

	"linerate/engine"
	"linerate/probes"
)

// DoctorFormat is the number of the document that DoctorJSON writes. It grows when a
// reader of the old form would misread the new one.
const DoctorFormat = 1

// doctorJSON is an examination in JSON. Readings, and the objects of package probes, are
// those of engine/diagnose/EVIDENCE.md.
type doctorJSON struct {
	Format     int                              `json:"format"`
	Version    string                           `json:"version"`
	Taken      string                           `json:"taken"`
	Target     *targetJSON                      `json:"target,omitempty"`
	Findings   []findingJSON                    `json:"findings"`
	Computer   probes.Reading[probes.Host]      `json:"computer"`
	Load       loadJSON                         `json:"load"`
	Interfaces []interfaceJSON                  `json:"interfaces"`
	Settings   probes.Settings                  `json:"settings"`
	Firewall   probes.Firewall                  `json:"firewall"`
	Memory     probes.Reading[float64]          `json:"memory_bps"`
	Conntrack  probes.Reading[probes.Conntrack] `json:"conntrack"`
	Unread     []unreadJSON                     `json:"unread"`
}

type targetJSON struct {
	Host     string                 `json:"host"`
	Port     int                    `json:"port"`
	Address  string                 `json:"address"`
	Source   string                 `json:"source"`
	Gateway  probes.Reading[bool]   `json:"gateway"`
	Listener probes.Reading[string] `json:"listener"`
	MTU      probes.PathMTU         `json:"mtu"`
	RTT      probes.PathRTT         `json:"rtt"`
}

type loadJSON struct {
	Window   number                            `json:"window"`
	Cores    probes.Reading[[]probes.CoreLoad] `json:"cores"`
	Pressure probes.Pressure                   `json:"pressure"`
	Quota    probes.Quota                      `json:"quota"`
	Thermal  probes.Thermal                    `json:"thermal"`
}

type interfaceJSON struct {
	NIC     probes.Reading[probes.NIC]     `json:"nic"`
	Adapter probes.Adapter                 `json:"adapter"`
	Qdiscs  probes.Reading[[]probes.Qdisc] `json:"qdiscs"`
	Ceiling probes.Reading[float64]        `json:"ceiling_bps"`
}

// unreadJSON is what could not be read.
type unreadJSON struct {
	Subject string        `json:"subject"`
	What    string        `json:"what"`
	Status  probes.Status `json:"status"`
	Reason  string        `json:"reason"`
}

// DoctorJSON writes an examination as one JSON document. The error is that of the writer,
// or that a reading holds what JSON cannot.
func DoctorJSON(w io.Writer, x engine.Examination, opt JSONOptions) error {
	doc := doctorJSON{
		Format: DoctorFormat, Version: opt.Version, Taken: x.Taken.Format(time.RFC3339),
		Findings: findings(x.Findings),
		Computer: x.Machine, Settings: x.Settings, Firewall: x.Firewall, Memory: x.Memory, Conntrack: x.Vitals.Conntrack,
		Load:       loadJSON{seconds(x.Window), x.Cores, x.Vitals.Pressure, x.Vitals.Quota, x.Vitals.Thermal},
		Interfaces: []interfaceJSON{},
		Unread:     append([]unreadJSON{}, factsOf(&x).unread...),
	}
	if x.Program != "" {
		doc.Version = x.Program
	}
	for _, l := range x.Links {
		doc.Interfaces = append(doc.Interfaces, interfaceJSON{l.NIC, l.Adapter, l.Qdiscs, l.Ceiling})
	}
	if x.Target != "" {
		doc.Target = &targetJSON{x.Target, x.Port, plainAddr(x.Dest), plainAddr(x.Source), x.Gateway, x.Listener, x.MTU, x.RTT}
	}
	text, err := compact(doc)
	if err != nil {
		return err
	}
	out := output{w: w}
	out.write(append(layout(nil, text, true), '\n'))
	return out.err
}
