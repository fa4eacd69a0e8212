package refresh

import (
	"math"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// Theory is what the closed forms say of an expiry; NaN where there is none.
type Theory struct {
	Loads, Early, Hard float64
	Single             float64 // probability of a single load
	Gap                float64 // seconds
	Late               float64
	Waits              float64
	Life               float64 // seconds
}

// theory is that of a valid setup and a fleet with these clocks.
func (s Setup) theory(c *clocks) Theory {
	nan := math.NaN()
	t := Theory{nan, nan, nan, nan, nan, nan, nan, nan}
	switch {
	case s.learns(), s.aimVaries(), s.Step > 0, !s.lawHolds():
		return t
	case s.Skew > 0:
		return s.skewedTheory(t, c)
	}
	law := s.law(s.aware())
	t.Gap = law.ExpectedLeft().Seconds()
	t.Life = s.meanLife().Seconds() - t.Gap + (s.claim() + s.Delta).Seconds()
	if s.Cost.Fixed() {
		t.Late = law.LateProbability(s.lead())
		_, t.Waits = s.law(s.lead()).LoadsPerExpiry() // with no lease each of them would load
	} else {
		t.Life = nan // of several loads the first to end counts
	}
	s.countTheory(&t, law)
	return t
}

// countTheory fills in the number of loads, which random costs leave alone only
// if readers hear of a load when it begins.
func (s Setup) countTheory(t *Theory, law xfetch.Law) {
	if s.Coordination != Lease && !s.Cost.Fixed() {
		return
	}
	if s.Coordination == Singleflight {
		t.Loads = law.FleetLoads(s.Instances)
		if s.Instances == 1 {
			t.Single = 1
		}
	} else {
		t.Early, t.Hard = law.LoadsPerExpiry()
		t.Loads = t.Early + t.Hard
		t.Single = law.SingleProbability()
	}
	if s.Inline {
		t.Waits += t.Early // NaN with singleflight
	}
}

// skewedTheory: clocks that are off raise the density of elections by a constant
// factor, as long as nobody takes the entry for expired. If the refresh is over
// before that, the gap grows by s*ln of the factor and the number of loads stays.
// For offsets of standard deviation σ the factor is about e^{σ²/2s²}.
func (s Setup) skewedTheory(t Theory, c *clocks) Theory {
	law := s.law(s.aware())
	law.Rate *= c.weight(law.Scale.Seconds())
	quiet := newHazard(law.Rate, s.usual(), 0).mean(math.Max(0, c.most) + s.aware().Seconds())
	if quiet < 30 || !s.Cost.Fixed() { // e^{-30} of expiries are not over by then
		return t
	}
	t.Gap = law.ExpectedLeft().Seconds()
	t.Life = s.meanLife().Seconds() - t.Gap + (s.claim() + s.Delta).Seconds()
	if s.Coordination != Singleflight {
		t.Loads = law.StampedeMean()
	}
	return t
}

// lawHolds tells whether lives are long enough for the closed forms.
func (s Setup) lawHolds() bool { return s.electedAtBirth() < 1e-5 }

// electedAtBirth is the share of entries whose first refresh would have started
// before they were written, had they lived longer.
func (s Setup) electedAtBirth() float64 {
	h := newHazard(s.Rate, s.usual(), 4*s.Skew.Seconds())
	return -math.Expm1(-h.mean((s.shortestLife() - s.Lag).Seconds()))
}
