package plan

import (
	"encoding/json"
	"io"
)

// The JSON form has flat figures in seconds and shares, for tools, and the
// formulas of each as text.

type planJSON struct {
	Setup       setupJSON    `json:"setup"`
	Rule        string       `json:"rule"`
	RuleLate    float64      `json:"rule_late,omitempty"`
	Beta        float64      `json:"beta"`
	ScaleS      float64      `json:"scale_s"`
	ShiftS      float64      `json:"shift_s"`
	Jitter      float64      `json:"jitter"`
	MaxLoads    int          `json:"max_loads"` // of all instances
	MaxLoadRate float64      `json:"max_load_rate"`
	L1TTLS      float64      `json:"l1_ttl_s"`
	Copies      int          `json:"copies"`
	Figures     []Figure     `json:"figures"`
	Predicted   outcomeJSON  `json:"predicted"`
	Colder      []colderJSON `json:"colder"`
	Notes       []string     `json:"notes"`
	Options     string       `json:"options"`
	Check       string       `json:"check,omitempty"`
}

type setupJSON struct {
	Rate       float64 `json:"rate"`
	DeltaS     float64 `json:"delta_s"`
	DeviationS float64 `json:"deviation_s"`
	TTLS       float64 `json:"ttl_s"`
	Keys       int     `json:"keys"`
	Instances  int     `json:"instances"`
	RoundTripS float64 `json:"roundtrip_s"`
	Node       float64 `json:"node"`
	Other      float64 `json:"other"`
	StalenessS float64 `json:"staleness_s"`
	Capacity   float64 `json:"capacity"`
	Concurrent int     `json:"concurrent"`
	Extra      float64 `json:"extra"`
	Late       float64 `json:"late"`
}

type outcomeJSON struct {
	Late           float64 `json:"p_late"`
	LateMet        bool    `json:"late_met"`
	Extra          float64 `json:"extra_load"`
	ExtraMet       bool    `json:"extra_met"`
	LoadsPerExpiry float64 `json:"loads_per_expiry"`
	GapS           float64 `json:"gap_s"`
	OriginRate     float64 `json:"origin_loads_per_s"`
	PeakRate       float64 `json:"peak_starts_per_s"`
	RefillS        float64 `json:"refill_s"`
	StoreReads     float64 `json:"store_reads_per_s"`
}

type colderJSON struct {
	Rate         float64 `json:"rate"`
	ClassicLate  float64 `json:"classic_p_late"`
	ClassicExtra float64 `json:"classic_extra_load"`
	Late         float64 `json:"p_late"`
	Extra        float64 `json:"extra_load"`
}

// WriteJSON writes the plan for programs.
func (p Plan) WriteJSON(w io.Writer) error {
	r := p.Refresh
	out := planJSON{
		Setup: p.Setup.json(), Rule: "classic",
		Beta: r.Beta, ScaleS: r.Aim.Scale.Seconds(), ShiftS: r.Aim.Shift.Seconds(),
		Jitter: p.jitter(), MaxLoads: p.MaxLoads, MaxLoadRate: p.MaxLoadRate,
		L1TTLS: p.L1TTL.Seconds(), Copies: p.Copies,
		Figures: p.Figures(), Predicted: p.outcomeJSON(), Notes: p.Notes,
		Options: p.Options(), Check: p.Check(),
	}
	if !r.isClassic() {
		out.Rule, out.RuleLate = "deadline", r.Rule.Late
	}
	for _, c := range p.Colder {
		out.Colder = append(out.Colder, colderJSON{c.Rate, c.Classic.Late, c.Classic.Extra, c.Chosen.Late, c.Chosen.Extra})
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(out)
}

func (s Setup) json() setupJSON {
	return setupJSON{
		s.Rate, s.Delta.Seconds(), s.Deviation.Seconds(), s.TTL.Seconds(), s.Keys,
		s.Instances, s.RoundTrip.Seconds(), s.Node, s.Other, s.Staleness.Seconds(),
		s.Capacity, s.Concurrent, s.Extra, s.Late,
	}
}

func (p Plan) outcomeJSON() outcomeJSON {
	s, r := p.Setup, p.Refresh
	return outcomeJSON{
		Late: r.Late, LateMet: r.Late <= s.Late, Extra: r.Extra, ExtraMet: r.Extra <= s.Extra,
		LoadsPerExpiry: r.Loads, GapS: r.Gap.Seconds(),
		OriginRate: p.Steady, PeakRate: p.Peak, RefillS: p.Refill.Seconds(), StoreReads: p.Store,
	}
}
