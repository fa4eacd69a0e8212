package refresh

import (
	"encoding/json"
	"io"
	"math"
)

// The JSON form has flat rows and seconds, for tools that plot.

type reportJSON struct {
	Rate      float64        `json:"rate"`
	DeltaS    float64        `json:"delta_s"`
	TTLS      float64        `json:"ttl_s"`
	Beta      float64        `json:"beta"`
	Instances int            `json:"instances"`
	Expiries  int            `json:"expiries"`
	Seed      uint64         `json:"seed"`
	ScaleS    float64        `json:"scale_s"`
	WindowS   float64        `json:"window_s"`
	Elections []electionJSON `json:"elections"`
	Loads     []loadsJSON    `json:"loads"`
	Notes     []string       `json:"notes"`
}

type electionJSON struct {
	LeftS    float64  `json:"left_s"`
	Draws    int      `json:"draws"`
	Elected  int      `json:"elected"`
	Observed float64  `json:"observed"`
	StdErr   float64  `json:"stderr"`
	Theory   float64  `json:"theory"`
	Z        *float64 `json:"z"`
}

type loadsJSON struct {
	Coordination string `json:"coordination"`

	MeanLoads float64  `json:"mean_loads"`
	StdErr    float64  `json:"stderr"`
	Theory    *float64 `json:"theory"`
	Z         *float64 `json:"z"`

	Early        float64  `json:"early"`
	EarlyTheory  *float64 `json:"early_theory"`
	EarlyZ       *float64 `json:"early_z"`
	Hard         float64  `json:"hard"`
	HardTheory   *float64 `json:"hard_theory"`
	HardZ        *float64 `json:"hard_z"`
	Single       float64  `json:"p_single"`
	SingleTheory *float64 `json:"p_single_theory"`
	SingleZ      *float64 `json:"p_single_z"`

	Late       float64  `json:"p_late"`
	LateStdErr float64  `json:"p_late_stderr"`
	LateTheory *float64 `json:"p_late_theory"`
	LateZ      *float64 `json:"p_late_z"`
	GapS       float64  `json:"gap_s"`
	GapStdErr  float64  `json:"gap_stderr_s"`
	GapTheoryS *float64 `json:"gap_theory_s"`
	GapZ       *float64 `json:"gap_z"`

	LoadsHist       []int   `json:"loads_hist"`
	EquivalentReads float64 `json:"equivalent_reads"`
}

// WriteJSON writes the report as one JSON object. What cannot be compared is
// null.
func (r Report) WriteJSON(w io.Writer) error {
	s := r.Setup
	out := reportJSON{
		Rate: s.Rate, DeltaS: s.Delta.Seconds(), TTLS: s.TTL.Seconds(), Beta: s.Beta,
		Instances: s.Instances, Expiries: s.Expiries, Seed: s.Seed,
		ScaleS: r.Scale.Seconds(), WindowS: r.Window.Seconds(),
		Notes: append([]string{}, r.Notes...),
	}
	for _, e := range r.Elections {
		out.Elections = append(out.Elections, e.json())
	}
	for _, l := range r.Loads {
		out.Loads = append(out.Loads, l.json())
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

func (e Election) json() electionJSON {
	return electionJSON{
		e.Left.Seconds(), e.Draws, e.Elected,
		e.Share.Observed, e.Share.StdErr, e.Share.Theory, known(e.Share.Z),
	}
}

func (l Loads) json() loadsJSON {
	return loadsJSON{
		Coordination: l.Coordination,
		MeanLoads:    l.Mean.Observed, StdErr: l.Mean.StdErr, Theory: known(l.Mean.Theory), Z: known(l.Mean.Z),
		Early: l.Early.Observed, EarlyTheory: known(l.Early.Theory), EarlyZ: known(l.Early.Z),
		Hard: l.Hard.Observed, HardTheory: known(l.Hard.Theory), HardZ: known(l.Hard.Z),
		Single: l.Single.Observed, SingleTheory: known(l.Single.Theory), SingleZ: known(l.Single.Z),
		Late: l.Late.Observed, LateStdErr: l.Late.StdErr, LateTheory: known(l.Late.Theory), LateZ: known(l.Late.Z),
		GapS: l.Gap.Observed, GapStdErr: l.Gap.StdErr, GapTheoryS: known(l.Gap.Theory), GapZ: known(l.Gap.Z),
		LoadsHist: l.Sizes, EquivalentReads: l.Reads,
	}
}

// known is nil for NaN, which JSON cannot say.
func known(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}
