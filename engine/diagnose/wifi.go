package diagnose

import (
	"fmt"

	"linerate/engine"
	"linerate/engine/unit"
)

const (
	// radioGood and radioUsual are the parts of a radio's bit rate that TCP gets: 0.5 to
	// 0.65 is usual, below 0.4 something is wrong.
	radioGood, radioUsual = 0.4, 0.5
	// radioRetries is the share of frames sent again from which the air is bad.
	radioRetries = 0.20
)

// radio (R46b): the way goes over Wi-Fi.
func radio(e *Evidence, dir engine.Direction) ruling {
	return e.eachComputer(func(side engine.Side) ruling {
		kind := e.kind(side)
		k, ok := kind.Get()
		wifi := e.end(side).Adapter.WiFi
		switch {
		case !ok && !wifi.Known():
			return e.notSeen(side, "interface", kind.Why())
		case k != "wifi" && !wifi.Known():
			return no("the interface is no radio")
		case !wifi.Known():
			return e.notSeen(side, "radio", wifi.Why())
		}
		rate := wifi.Value.RxBps
		if side == e.Sender(dir) {
			rate = wifi.Value.TxBps
		}
		sys := e.system(side)
		saves, _ := wifi.Value.PowerSave.Get()
		retries, _ := wifi.Value.Retries.Get()
		f := engine.Finding{
			Severity: engine.SeverityLimit, Confidence: engine.Sure, Side: e.side(side), Core: -1,
			Short: fmt.Sprintf("%sWi-Fi: %s radio", e.where(side), unit.Rate(rate)),
			Evidence: e.from(dir, e.fact("radio bit rate", rate, "bit/s", side),
				e.fact("signal", float64(wifi.Value.SignalDBm), "dBm", side)),
			Remedy: []engine.Remedy{sys.say("Another band or channel, a place nearer to the access point, or a wire. A server on the access point itself is held back by its processor.")},
		}
		if saves {
			f.Severity = engine.SeverityWarning
			f.Evidence = append(f.Evidence, e.fact("power save on", 1, engine.True, side))
			f.Remedy = append([]engine.Remedy{sys.radioAwake()}, f.Remedy...)
		}
		if retries > radioRetries {
			f.Severity = engine.SeverityWarning
			f.Evidence = append(f.Evidence, e.fact("frames sent again", retries, "share", side))
		}
		f.Text = fmt.Sprintf("Wi-Fi: a %s radio gives about %s of TCP; signal %d dBm", unit.Rate(rate), unit.Rate(radioUsual*rate), wifi.Value.SignalDBm)
		g, ok := e.flow(dir).Rate.Get()
		switch {
		case e.Test.Idle:
			if !saves && retries <= radioRetries {
				return no("the radio's settings are good")
			}
			f.Confidence = engine.Likely
		case !ok:
			return unseen("rate: " + e.flow(dir).Rate.Why())
		case rate <= 0:
			return e.notSeen(side, "radio", "no bit rate")
		case g < radioGood*rate:
			f.Severity = engine.SeverityWarning
			f.Text += fmt.Sprintf(", and only %s flow", unit.Rate(g))
		}
		if saves {
			f.Text += ", power save is on"
		}
		if retries > radioRetries {
			f.Text += fmt.Sprintf(", %s of the frames are sent again", percent(retries))
		}
		f.Text += "."
		return holds(f)
	})
}

// radioAwake switches the radio's power saving off.
func (s system) radioAwake() engine.Remedy {
	awake := "iw dev " + s.nic + " set power_save off"
	persistent := s.atBoot(s.nic, awake)
	if s.family == managedLinux || s.family == netplanLinux {
		persistent = s.nmcli("802-11-wireless.powersave 2")
	}
	return s.do("Switch the radio's power saving off.", awake, persistent)
}
