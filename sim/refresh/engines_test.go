package refresh

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/sim/estimate"
)

// The thinned engine leaves out all reads and knows the rule by its density; the
// event engine plays every read and asks package xfetch. They share neither the
// arithmetic nor the course of a run, so where they agree both are right. Most
// rows are such that no closed form holds.
func TestEngines_agreeWhereNoFormHolds(t *testing.T) {
	for name, change := range map[string]func(*Setup){
		"ordinary":        func(s *Setup) { s.Rate = 5 },
		"singleflight":    func(s *Setup) { s.Rate, s.Coordination, s.Instances = 5, Singleflight, 3 },
		"eager":           func(s *Setup) { s.Rate, s.Beta = 20, 3 },
		"shy":             func(s *Setup) { s.Rate, s.Beta, s.TTL = 20, 0.2, 5*time.Second },
		"short":           func(s *Setup) { s.Rate, s.TTL = 10, 2*time.Second },
		"cold":            func(s *Setup) { s.Rate, s.TTL = 0.05, 3*time.Second },
		"never early":     func(s *Setup) { s.Rate, s.Beta = 5, 0 },
		"jitter":          func(s *Setup) { s.Rate, s.Jitter = 5, 0.5 },
		"inline":          func(s *Setup) { s.Rate, s.Inline = 5, true },
		"lag":             func(s *Setup) { s.Rate, s.Lag = 5, 700*time.Millisecond },
		"lease":           func(s *Setup) { s.Rate, s.Coordination, s.RoundTrip = 20, Lease, 300*time.Millisecond },
		"lease, cold":     func(s *Setup) { s.Rate, s.Coordination, s.RoundTrip = 0.5, Lease, 300*time.Millisecond },
		"random costs":    func(s *Setup) { s.Rate, s.Cost = 5, CostOf("lognormal:0.5") },
		"the last cost":   func(s *Setup) { s.Rate, s.Cost, s.Estimator = 5, CostOf("exponential"), Last },
		"two costs":       func(s *Setup) { s.Rate, s.Cost, s.Coordination = 5, CostOf("twopoint:0.1,9.1"), Singleflight },
		"heavy tail":      func(s *Setup) { s.Rate, s.Cost, s.Coordination = 5, CostOf("pareto:2.5"), Lease },
		"costs unlearnt":  func(s *Setup) { s.Rate, s.Cost, s.Stored = 5, CostOf("uniform"), time.Second },
		"skew":            func(s *Setup) { s.Rate, s.Skew = 5, 500*time.Millisecond },
		"much skew":       func(s *Setup) { s.Rate, s.Skew, s.Coordination = 5, 3*time.Second, Singleflight },
		"step":            func(s *Setup) { s.Rate, s.Step = 5, 2*time.Second },
		"step and skew":   func(s *Setup) { s.Rate, s.Step, s.Skew = 5, 1700*time.Millisecond, time.Second },
		"deadline":        func(s *Setup) { s.Rate, s.Rule = 5, Deadline },
		"deadline, hot":   func(s *Setup) { s.Rate, s.Rule = 100, Deadline },
		"deadline, cold":  func(s *Setup) { s.Rate, s.Rule = 0.2, Deadline },
		"deadline, lease": func(s *Setup) { s.Rate, s.Rule, s.Coordination, s.RoundTrip = 20, Deadline, Lease, time.Second },
		"deadline, all": func(s *Setup) {
			s.Rate, s.Rule, s.Cost, s.Jitter, s.Skew = 5, Deadline, CostOf("lognormal:0.5"), 0.2, time.Second
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := hot(5, 1)
			s.TTL, s.Expiries, s.Events = 20*time.Second, 20_000, 400_000
			change(&s)
			r := run(t, s)
			for i, row := range r.Thinned.rows(s) {
				requireSame(t, row, r.Event.rows(s)[i].e, r.Event.Expiries)
			}
			requireAgreement(t, r)
		})
	}
}

// requireSame compares the engines' means. The rarer a thing, the likelier the
// shorter run has none of it and shows no variance, but a count's is at least
// m(1-m), m being its distance from a whole number.
func requireSame(t *testing.T, row row, other estimate.Estimate, n int) {
	t.Helper()
	m := row.e.Observed - math.Floor(row.e.Observed)
	errs := max(math.Hypot(row.e.StdErr, other.StdErr), math.Sqrt(m*(1-m)/float64(n)))
	z := estimate.Distance(row.e.Observed-other.Observed, errs)
	require.LessOrEqual(t, math.Abs(z), 4.0, "%s: %+v, %+v", row.name, row.e, other)
}

// The hazard is the integral of the rule's probability, and its two lines are
// inverted where they meet.
func TestHazard_isTheIntegralOfTheRule(t *testing.T) {
	for _, rule := range []string{Classic, Deadline} {
		for _, rate := range []float64{0.05, 3, 40, 5000} {
			s := hot(rate, 1)
			s.Rule = rule
			aim := s.usual()
			h := newHazard(rate, aim, 0)
			sum, last := h.mean(aim.Window().Seconds()), aim.Window()
			for left := aim.Window(); left > -2*time.Second; left -= 5 * time.Millisecond {
				sum += rate * (last - left).Seconds() * aim.Probability(left+2500*time.Microsecond)
				last = left
				v := h.mean(left.Seconds())
				if aim.Shift < 0 && left < 0 {
					break // the step at expiry lies within one of these
				}
				require.InDelta(t, sum, v, 0.01*sum+1e-9, "%s, %v reads/s, %v left", rule, rate, left)
				require.InDelta(t, left.Seconds(), h.left(v), 1e-6, "%s, %v reads/s", rule, rate)
				require.InDelta(t, aim.Probability(left), h.density(left.Seconds()), 1e-9)
			}
		}
	}
}

func TestHeap_givesTheEarliestFirst(t *testing.T) {
	rng := source(1, 2)
	var h heap
	last := int64(0)
	for range 5000 {
		switch {
		case len(h) == 0 || rng.IntN(3) == 0:
			h.push(event{last + rng.Int64N(1000), 0})
		case rng.IntN(2) == 0:
			require.LessOrEqual(t, last, h[0].at)
			last = h[0].at
			h.replaceTop(event{last + rng.Int64N(1000), 0})
		default:
			require.LessOrEqual(t, last, h[0].at)
			last = h[0].at
			h.pop()
		}
		for i := 1; i < len(h); i++ {
			if h[(i-1)/4].at > h[i].at {
				t.Fatalf("%d is above %d", h[(i-1)/4].at, h[i].at)
			}
		}
	}
}

// The means of cost laws are what they are multiples of.
func TestCost_hasMeanOne(t *testing.T) {
	rng := source(1, 3)
	for _, text := range []string{"fixed", "exponential", "uniform", "lognormal:0.5", "lognormal:1", "twopoint:0.1,9.1", "pareto:3"} {
		c := CostOf(text)
		require.Equal(t, text, c.String())
		var sum estimate.Sample
		for range 200_000 {
			x := c.Draw(rng)
			if !(x >= 0) {
				t.Fatalf("%s: %v", text, x)
			}
			sum.Add(x)
		}
		require.InDelta(t, 1, sum.Mean(), 4.5*sum.StdErr()+1e-12, text)
	}
}

func TestCost_refusesWhatIsNoLaw(t *testing.T) {
	var c Cost
	for _, text := range []string{"", "normal", "fixed:1", "lognormal", "lognormal:", "lognormal:x", "lognormal:NaN",
		"lognormal:-1", "lognormal:1,2", "twopoint:0.5", "twopoint:0.5,3", "twopoint:2,0.1", "pareto:1", "pareto:+Inf"} {
		require.Error(t, c.Set(text), text)
	}
	require.True(t, c.Fixed(), "as it was")
}
