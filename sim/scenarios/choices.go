package scenarios

import (
	"fmt"
	"math"
	"time"

	"github.com/earlybird-cache/earlybird/sim/estimate"
	"github.com/earlybird-cache/earlybird/sim/refresh"
	"github.com/earlybird-cache/earlybird/xfetch"
)

// What the scale, the rule and the estimate are worth.
var choices = []Scenario{
	{"best-scale", "Which scale costs the origin least?",
		"A key read 100 times a second that lives for 300 loads: loads per life, where one is the least. Without a lease beta 1 costs 2.7 times the least and the best scale is several loads long; with a lease beta 1 is about right.",
		playBestScale},
	{"deadline", "Does the deadline rule keep its promise?",
		"Loads of 100 ms, a life of a minute, a lease with a round trip of 1 ms: the rule aims so that one refresh in ten thousand starts too late, at any read rate, and so that a hot key keeps its freshness. A rate taken for four times too high breaks the promise, one four times too low costs a little freshness.",
		playDeadline},
	{"deadline-reach", "Why is the deadline rule bounded?",
		"A key that is read every ten seconds and lives a minute. Unbounded, the rule lets every read load it.",
		playReach},
	{"estimators", "What should be remembered of load times?",
		"Loads of a second on average but of varying length, a hot key at beta 1: the last load's time, as in the paper, or a moving mean that gives it a quarter.",
		playEstimators},
}

func playBestScale(st *stage) ([]Row, error) {
	base := key(100, 1)
	base.TTL = 300 * second
	best := xfetch.BestScale(base.Rate, base.Delta, base.TTL+base.Delta)
	var rows []Row
	for _, c := range []struct {
		of     string
		change func(*refresh.Setup)
	}{
		{"beta 1", func(*refresh.Setup) {}},
		{"half of the best scale", scaled(best, 0.5)},
		{"the best scale", scaled(best, 1)},
		{"twice the best scale", scaled(best, 2)},
		{"beta 1 with a lease", leased},
		{"the best scale with a lease", func(s *refresh.Setup) { scaled(best, 1)(s); leased(s) }},
	} {
		s := base
		c.change(&s)
		r, err := st.refresh(s)
		if err != nil {
			return nil, err
		}
		f := r.Thinned
		rows = append(rows, closedBy("loads per life, "+c.of, loadsPer(f, s.TTL), f.Loads.Theory/f.Life.Theory*s.TTL.Seconds()).shownBy(s.Command()))
	}
	least := rows[2].Got
	rows = append(rows,
		bounded("loads per life at the best scale, against half of it", AtMost, rows[1].Got, least),
		bounded("loads per life at the best scale, against twice", AtMost, rows[3].Got, least),
	)
	return rows, nil
}

// loadsPer is what a key costs its origin in a span of time. Where nearly all
// expiries cost one load a small run may see no other; a count's variance is at least
// m(1-m) all the same, m being its mean above one.
func loadsPer(f refresh.Figures, span time.Duration) estimate.Estimate {
	loads := f.Loads.StdErr
	if m := f.Loads.Theory - 1; m > 0 && m < 1 {
		loads = max(loads, math.Sqrt(m*(1-m)/float64(f.Expiries)))
	}
	life := f.Life.Observed
	return estimate.Estimate{
		Observed: f.LoadRate() * span.Seconds(),
		StdErr:   math.Hypot(loads, f.Loads.Observed*f.Life.StdErr/life) / life * span.Seconds(),
	}
}

func scaled(scale time.Duration, factor float64) func(*refresh.Setup) {
	return func(s *refresh.Setup) {
		s.Beta = math.Round(1000*factor*scale.Seconds()/s.Delta.Seconds()) / 1000
	}
}

func leased(s *refresh.Setup) { s.Coordination, s.RoundTrip = refresh.Lease, s.Delta/100 }

// deadlineKey is the key of the deadline's scenarios.
func deadlineKey(rate float64) refresh.Setup {
	s := key(rate, 1)
	s.Rule, s.Delta, s.TTL = refresh.Deadline, 100*time.Millisecond, minute
	s.Coordination, s.RoundTrip = refresh.Lease, time.Millisecond
	return s
}

func playDeadline(st *stage) ([]Row, error) {
	var rows []Row
	for _, rate := range []float64{1, 10, 100, 1000, 100_000} {
		s := deadlineKey(rate)
		s.Expiries = 4_000_000
		r, err := st.refresh(s)
		if err != nil {
			return nil, err
		}
		f, of := r.Thinned, fmt.Sprintf(", %g reads/s", rate)
		for _, row := range []Row{
			closed("share late"+of, f.Late),
			closed("seconds left at the first start"+of, f.Gap),
			closed("loads per expiry"+of, f.Loads),
			closedBy("loads per ttl"+of, loadsPer(f, s.TTL), f.Loads.Theory/f.Life.Theory*s.TTL.Seconds()),
		} {
			rows = append(rows, row.shownBy(s.Command()))
		}
	}
	beside, err := besideDeadline(st)
	return append(rows, beside...), err
}

// besideDeadline is what the rule is set against: the classic one, and itself
// with a rate that is not the true one.
func besideDeadline(st *stage) ([]Row, error) {
	classic := deadlineKey(100_000)
	classic.Rule = refresh.Classic
	r, err := st.refresh(classic)
	if err != nil {
		return nil, err
	}
	rows := []Row{closed("seconds left at the first start, 100000 reads/s, classic rule", r.Thinned.Gap).shownBy(classic.Command())}
	for _, known := range []float64{25, 400} {
		s := deadlineKey(100)
		s.KnownRate = known
		if r, err = st.refresh(s); err != nil {
			return nil, err
		}
		of := fmt.Sprintf(", 100 reads/s taken for %g", known)
		rows = append(rows,
			closed("share late"+of, r.Thinned.Late).shownBy(s.Command()),
			closed("seconds left at the first start"+of, r.Thinned.Gap).shownBy(s.Command()))
	}
	return rows, nil
}

func playReach(st *stage) ([]Row, error) {
	var rows []Row
	for _, c := range []struct {
		of     string
		change func(*refresh.Setup)
	}{
		{"classic rule", func(s *refresh.Setup) { s.Rule = refresh.Classic }},
		{"deadline rule", func(*refresh.Setup) {}},
		{"deadline rule without a bound", func(s *refresh.Setup) { s.Reach = 1 }},
	} {
		s := deadlineKey(0.1)
		c.change(&s)
		r, err := st.refresh(s)
		if err != nil {
			return nil, err
		}
		f := r.Thinned
		theory := f.Loads.Theory / f.Life.Theory
		if s.Reach == 1 { // the next read loads: a cycle is a wait for it and a load
			theory = 1 / (1/s.Rate + (s.RoundTrip + s.Delta).Seconds())
		}
		rows = append(rows, closedBy("loads per ttl, "+c.of, loadsPer(f, s.TTL), theory*s.TTL.Seconds()).shownBy(s.Command()))
	}
	return rows, nil
}

func playEstimators(st *stage) ([]Row, error) {
	var rows []Row
	for _, cost := range []string{"lognormal:0.5", "lognormal:1", "twopoint:0.1,9.1"} {
		for _, estimator := range []string{refresh.Last, refresh.Smoothed} {
			s := key(100, 1)
			s.Cost, s.Estimator, s.Expiries, s.Events = refresh.CostOf(cost), estimator, 400_000, 20_000_000
			r, err := st.refresh(s)
			if err != nil {
				return nil, err
			}
			e, f, of := r.Event, r.Thinned, fmt.Sprintf(", %s, %s", cost, estimator)
			for _, row := range []Row{
				byEvents("loads per expiry"+of, e.Loads, e.Expiries, f.Loads, f.Expiries),
				byEvents("hard loads"+of, e.Hard, e.Expiries, f.Hard, f.Expiries),
				byEvents("seconds left at the first start"+of, e.Gap, e.Expiries, f.Gap, f.Expiries),
			} {
				rows = append(rows, row.shownBy(s.Command()))
			}
		}
	}
	return rows, nil
}
