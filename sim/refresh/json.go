package refresh

import (
	"encoding/json"
	"io"
	"math"
)

// The JSON form has flat figures and seconds, for tools that plot. Those of the
// thinned engine are at the top, the event engine's below "event".

type reportJSON struct {
	figuresJSON

	Event    *figuresJSON `json:"event"`
	EnginesZ *float64     `json:"engines_z"` // of the difference in mean_loads

	Setup     setupJSON      `json:"setup"`
	ScaleS    float64        `json:"scale_s"`
	ShiftS    float64        `json:"shift_s"`
	WindowS   float64        `json:"window_s"`
	Elections []electionJSON `json:"elections"`
	Notes     []string       `json:"notes"`
}

type setupJSON struct {
	Rate         float64 `json:"rate"`
	DeltaS       float64 `json:"delta_s"`
	Cost         string  `json:"cost"`
	TTLS         float64 `json:"ttl_s"`
	Jitter       float64 `json:"jitter"`
	Rule         string  `json:"rule"`
	Beta         float64 `json:"beta"`
	Estimator    string  `json:"estimator"`
	StoredS      float64 `json:"stored_s"`
	KnownRate    float64 `json:"known_rate"`
	Reach        float64 `json:"reach"`
	Instances    int     `json:"instances"`
	Coordination string  `json:"coordination"`
	RoundTripS   float64 `json:"roundtrip_s"`
	LagS         float64 `json:"lag_s"`
	Inline       bool    `json:"inline"`
	SkewS        float64 `json:"skew_s"`
	StepS        float64 `json:"step_s"`
	Seed         uint64  `json:"seed"`
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

type figuresJSON struct {
	MeanLoads float64  `json:"mean_loads"`
	StdErr    float64  `json:"stderr"`
	Theory    *float64 `json:"theory"`
	Z         *float64 `json:"z"`

	Late       float64  `json:"p_late"`
	LateStdErr float64  `json:"p_late_stderr"`
	LateTheory *float64 `json:"p_late_theory"`
	LateZ      *float64 `json:"p_late_z"`
	GapS       float64  `json:"gap_s"`
	GapStdErr  float64  `json:"gap_stderr_s"`
	GapTheoryS *float64 `json:"gap_theory_s"`
	GapZ       *float64 `json:"gap_z"`

	Early        float64  `json:"early"`
	EarlyTheory  *float64 `json:"early_theory"`
	EarlyZ       *float64 `json:"early_z"`
	Hard         float64  `json:"hard"`
	HardTheory   *float64 `json:"hard_theory"`
	HardZ        *float64 `json:"hard_z"`
	Single       float64  `json:"p_single"`
	SingleTheory *float64 `json:"p_single_theory"`
	SingleZ      *float64 `json:"p_single_z"`
	Waits        float64  `json:"waits"`
	WaitsTheory  *float64 `json:"waits_theory"`
	WaitsZ       *float64 `json:"waits_z"`
	LifeS        float64  `json:"life_s"`
	LifeTheoryS  *float64 `json:"life_theory_s"`
	LoadRate     float64  `json:"loads_per_s"`

	LoadsHist       []int   `json:"loads_hist"`
	Expiries        int     `json:"expiries"`
	EquivalentReads float64 `json:"equivalent_reads"`
	Seconds         float64 `json:"seconds"`
}

// WriteJSON writes the report as one JSON object. What cannot be compared is
// null.
func (r Report) WriteJSON(w io.Writer) error {
	out := reportJSON{
		figuresJSON: r.Thinned.json(),
		EnginesZ:    known(r.EnginesZ()),
		Setup:       r.Setup.json(),
		ScaleS:      r.Aim.Scale.Seconds(), ShiftS: r.Aim.Shift.Seconds(), WindowS: r.Aim.Window().Seconds(),
		Notes: append([]string{}, r.Notes...),
	}
	if r.Event != nil {
		event := r.Event.json()
		out.Event = &event
	}
	for _, e := range r.Elections {
		out.Elections = append(out.Elections, electionJSON{
			e.Left.Seconds(), e.Draws, e.Elected,
			e.Share.Observed, e.Share.StdErr, e.Share.Theory, known(e.Share.Z),
		})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

func (s Setup) json() setupJSON {
	return setupJSON{
		s.Rate, s.Delta.Seconds(), s.Cost.String(), s.TTL.Seconds(), s.Jitter,
		s.Rule, s.Beta, s.Estimator, s.Stored.Seconds(), s.KnownRate, s.Reach,
		s.Instances, s.Coordination, s.RoundTrip.Seconds(), s.Lag.Seconds(), s.Inline,
		s.Skew.Seconds(), s.Step.Seconds(), s.Seed,
	}
}

func (f Figures) json() figuresJSON {
	return figuresJSON{
		MeanLoads: f.Loads.Observed, StdErr: f.Loads.StdErr, Theory: known(f.Loads.Theory), Z: known(f.Loads.Z),
		Late: f.Late.Observed, LateStdErr: f.Late.StdErr, LateTheory: known(f.Late.Theory), LateZ: known(f.Late.Z),
		GapS: f.Gap.Observed, GapStdErr: f.Gap.StdErr, GapTheoryS: known(f.Gap.Theory), GapZ: known(f.Gap.Z),
		Early: f.Early.Observed, EarlyTheory: known(f.Early.Theory), EarlyZ: known(f.Early.Z),
		Hard: f.Hard.Observed, HardTheory: known(f.Hard.Theory), HardZ: known(f.Hard.Z),
		Single: f.Single.Observed, SingleTheory: known(f.Single.Theory), SingleZ: known(f.Single.Z),
		Waits: f.Waits.Observed, WaitsTheory: known(f.Waits.Theory), WaitsZ: known(f.Waits.Z),
		LifeS: f.Life.Observed, LifeTheoryS: known(f.Life.Theory), LoadRate: f.LoadRate(),
		LoadsHist: f.Sizes, Expiries: f.Expiries, EquivalentReads: f.Reads, Seconds: f.Seconds,
	}
}

// known is nil for NaN, which JSON cannot say.
func known(x float64) *float64 {
	if math.IsNaN(x) {
		return nil
	}
	return &x
}
