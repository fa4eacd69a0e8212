package plan

import (
	"fmt"
	"strings"
	"time"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// Options is the plan as a Go expression, the options of each instance. V stands
// for the type of the values.
func (p Plan) Options() string {
	s := p.Setup
	var b strings.Builder
	fmt.Fprintln(&b, "earlybird.Options[V]{")
	field := func(name, value string) { fmt.Fprintf(&b, "\t%-12s %s,\n", name+":", value) }
	field("TTL", goDuration(s.TTL))
	field("Jitter", fmt.Sprintf("%.2g", p.jitter()))
	field("Beta", fmt.Sprintf("%.4g", p.Refresh.Beta))
	if rule := p.Refresh.Rule; rule == xfetch.Deadline {
		field("Refresh", "xfetch.Deadline")
	} else if !p.Refresh.isClassic() {
		field("Refresh", fmt.Sprintf("xfetch.Rule{Late: %.4g}", rule.Late))
	}
	field("MaxLoads", fmt.Sprint(p.each()))
	field("MaxLoadRate", fmt.Sprintf("%.4g", p.MaxLoadRate/float64(s.Instances)))
	fmt.Fprint(&b, "}")
	return b.String()
}

// Check is a command that plays the plan's key, or empty if none can.
func (p Plan) Check() string {
	s, r := p.Setup, p.Refresh
	if !r.isClassic() && r.Rule != xfetch.Deadline {
		return ""
	}
	line := fmt.Sprintf("go run ./sim refresh -rate %.6g -delta %v -ttl %v -beta %.4g -seed %d", r.Law.Rate, s.Delta, s.TTL, r.Beta, s.Seed)
	line += fmt.Sprintf(" -jitter %.2g", p.jitter())
	if !r.isClassic() {
		line += fmt.Sprintf(" -rule deadline -known %.6g", r.Law.Rate/xfetch.Caution)
	}
	if s.shared() {
		return line + fmt.Sprintf(" -instances %d -coordination lease -roundtrip %v", s.Instances, s.RoundTrip)
	}
	return line + " -instances 1 -coordination singleflight"
}

// goDuration writes d as one would in Go.
func goDuration(d time.Duration) string {
	for _, unit := range []struct {
		size time.Duration
		name string
	}{
		{time.Hour, "time.Hour"}, {time.Minute, "time.Minute"}, {time.Second, "time.Second"},
		{time.Millisecond, "time.Millisecond"}, {time.Microsecond, "time.Microsecond"},
	} {
		switch {
		case d == unit.size:
			return unit.name
		case d%unit.size == 0:
			return fmt.Sprintf("%d * %s", d/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%d * time.Nanosecond", d)
}
