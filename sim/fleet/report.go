package fleet

import (
	"encoding/json"
	"io"
	"time"
)

// Report is what a run found. Of what was not played it has nothing.
type Report struct {
	Setup  setupJSON `json:"setup"`
	Server string    `json:"server"`
	Rungs  []Row     `json:"rungs,omitempty"`
	Cold   []ColdRow `json:"cold,omitempty"`
	Hot    []HotRow  `json:"hot,omitempty"`
	Outage *Outage   `json:"outage,omitempty"`
}

type setupJSON struct {
	Instances int       `json:"instances"`
	Keys      int       `json:"keys"`
	TTLS      float64   `json:"ttl_s"`
	DeltaS    float64   `json:"delta_s"`
	Rate      float64   `json:"rate"`
	DurationS float64   `json:"duration_s"`
	NearS     []float64 `json:"near_s"` // negative: off
	Readers   int       `json:"readers"`
	Seed      uint64    `json:"seed"`
}

func (s Setup) json() setupJSON {
	near := []float64{}
	for _, d := range s.Near {
		near = append(near, secondsOrOff(d))
	}
	return setupJSON{
		s.Instances, s.Keys, s.TTL.Seconds(), s.Delta.Seconds(), s.Rate, s.Duration.Seconds(),
		near, s.Readers, s.Seed,
	}
}

func (r Report) writeJSON(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(r)
}

func secondsOrOff(d time.Duration) float64 {
	if d < 0 {
		return -1
	}
	return d.Seconds()
}
