package scenarios

import (
	"math"

	"github.com/earlybird-cache/earlybird/sim/estimate"
)

// A Row is one figure of a scenario.
type Row struct {
	Figure    string  // what it is
	Expected  float64 // NaN: the published figure alone
	Basis     Basis   // of what is expected
	Got       float64
	StdErr    float64 // of Got, or of the difference if both were sampled; 0: exact
	Z         float64 // NaN: no standard errors apply
	Published string  // what was published of it, and where; "": nothing
	Command   string  // shows it
}

// Basis is where an expectation comes from.
type Basis string

const (
	ClosedForm  Basis = "closed form"
	Engine      Basis = "event engine"
	Measurement Basis = "measurement" // somebody else's, published
	Count       Basis = "count"       // must be exact
	AtMost      Basis = "at most"
	AtLeast     Basis = "at least"
	Misprint    Basis = "misprint" // an error often seen in print, to be refuted
)

// zLimit is how many standard errors a row may be off.
const zLimit = 4

// OK tells whether the row holds.
func (r Row) OK() bool {
	switch r.Basis {
	case Count:
		return r.Got == r.Expected
	case AtMost:
		return r.Got <= r.Expected
	case AtLeast:
		return r.Got >= r.Expected
	case Misprint:
		return math.Abs(r.Z) > zLimit
	}
	return r.unseen() || math.Abs(r.Z) <= zLimit
}

// unseen tells whether the figure is too rare for a run to say anything.
func (r Row) unseen() bool {
	return r.Basis == ClosedForm && (math.IsNaN(r.Z) && !math.IsNaN(r.Expected) ||
		r.Expected >= 0 && r.Expected < estimate.TooRare && math.Abs(r.Z) <= zLimit)
}

// Verdict is OK in a word or two.
func (r Row) Verdict() string {
	switch {
	case !r.OK():
		return "FAILS"
	case r.unseen():
		return "closed form only"
	case r.Basis == Misprint:
		return "refuted"
	}
	return "holds"
}

// closed is a row of an estimate that has a closed form.
func closed(figure string, e estimate.Estimate) Row {
	return Row{Figure: figure, Expected: e.Theory, Basis: ClosedForm, Got: e.Observed, StdErr: e.StdErr, Z: e.Z}
}

// closedBy is closed for a mean whose form the engine does not know.
func closedBy(figure string, e estimate.Estimate, theory float64) Row {
	e.Theory, e.Z = theory, estimate.Distance(e.Observed-theory, e.StdErr)
	return closed(figure, e)
}

// byEvents is a row of the event engine against the thinned one, of which n and m
// expiries were played. The smaller run says little about its own error where what
// counts is rare; the larger one knows what it must be.
func byEvents(figure string, event estimate.Estimate, n int, thinned estimate.Estimate, m int) Row {
	event.StdErr = max(event.StdErr, thinned.StdErr*math.Sqrt(float64(m)/float64(n)))
	return compared(figure, Engine, event, thinned)
}

// compared is a row of two figures that were both sampled.
func compared(figure string, basis Basis, expected, got estimate.Estimate) Row {
	err := math.Hypot(expected.StdErr, got.StdErr)
	return Row{
		Figure: figure, Expected: expected.Observed, Basis: basis,
		Got: got.Observed, StdErr: err, Z: estimate.Distance(got.Observed-expected.Observed, err),
	}
}

// counted is a row whose figure must be exact.
func counted(figure string, expected, got int) Row {
	return Row{Figure: figure, Expected: float64(expected), Basis: Count, Got: float64(got), Z: math.NaN()}
}

// bounded is a row whose figure must keep a bound.
func bounded(figure string, basis Basis, bound, got float64) Row {
	return Row{Figure: figure, Expected: bound, Basis: basis, Got: got, Z: math.NaN()}
}

func (r Row) published(text string) Row {
	r.Published = text
	return r
}

func (r Row) shownBy(command string) Row {
	r.Command = command
	return r
}
