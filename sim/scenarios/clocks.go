package scenarios

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/earlybird-cache/earlybird/sim/estimate"
	"github.com/earlybird-cache/earlybird/sim/refresh"
	"github.com/earlybird-cache/earlybird/xfetch"
)

// What clocks and common births do.
var clocksAndSpread = []Scenario{
	{"skew", "What if clocks disagree?",
		"A hot key at beta 1 on 100,000 instances whose clocks are off, normally distributed: the first refresh starts σ²/2s earlier and the number of loads stays.",
		playSkew},
	{"steps", "What if clocks move in steps?",
		"The same with clocks that move in steps, up to two scales long. The engine that thins reads knows no closed form here, and is set beside the one that plays them.",
		playSteps},
	{"written-together", "What if keys are written together?",
		"20,000 keys with loads of 400 ms, all written at once and read 25 times a second: early refresh spreads their expiry by a second or so. Jitter is what cures that.",
		playTogether},
	{"shorter-lives", "What does jitter cost?",
		"A key read 1,000 times a second, with a lease. Jitter shortens lives by half of itself on average, and so costs loads: 1.053 per nominal life at the default of a tenth is the least there can be.",
		playShorterLives},
}

func playSkew(st *stage) ([]Row, error) {
	var rows []Row
	for _, sigma := range []time.Duration{0, second / 4, second / 2} {
		s := key(1000, 1)
		s.Skew, s.Instances, s.Expiries = sigma, 100_000, 300_000
		r, err := st.refresh(s)
		if err != nil {
			return nil, err
		}
		scale, law := s.Delta.Seconds(), xfetch.Law{Rate: s.Rate, Scale: s.Delta, Aware: s.Delta}
		squares := sigma.Seconds() * sigma.Seconds() / scale / scale
		gap := r.Thinned.Gap
		// The fleet's clocks are a sample too, and the mean of e^{offset/s} over it as exact.
		gap.StdErr = math.Hypot(gap.StdErr, scale*math.Sqrt(math.Expm1(squares)/float64(s.Instances)))
		of := fmt.Sprintf(", σ = %g s", sigma.Seconds()/scale)
		rows = append(rows,
			closedBy("seconds left at the first start"+of, gap, law.ExpectedLeft().Seconds()+scale*squares/2).shownBy(s.Command()),
			closedBy("loads per expiry"+of, r.Thinned.Loads, law.StampedeMean()).shownBy(s.Command()))
	}
	return rows, nil
}

func playSteps(st *stage) ([]Row, error) {
	var rows []Row
	for _, step := range []time.Duration{second / 2, second, 2 * second} {
		s := key(100, 1)
		s.Step, s.Expiries, s.Events = step, 500_000, 40_000_000
		r, err := st.refresh(s)
		if err != nil {
			return nil, err
		}
		e, f, of := r.Event, r.Thinned, fmt.Sprintf(", steps of %g s", step.Seconds()/s.Delta.Seconds())
		rows = append(rows,
			byEvents("loads per expiry"+of, e.Loads, e.Expiries, f.Loads, f.Expiries).shownBy(s.Command()),
			byEvents("seconds left at the first start"+of, e.Gap, e.Expiries, f.Gap, f.Expiries).shownBy(s.Command()),
			bounded("loads per expiry by those with smooth clocks"+of, AtMost, 1.1, f.Loads.Observed/math.E).shownBy(s.Command()))
	}
	return rows, nil
}

// together is how many keys are written at once.
const together = 20_000

func playTogether(st *stage) ([]Row, error) {
	s := refresh.Default
	s.Expiries, s.Events = st.times(50*together), 0
	loads := xfetch.Law{Rate: s.Rate, Scale: s.Delta, Aware: s.Delta}.StampedeMean()
	enough := xfetch.JitterFor(together, loads, 1000, s.TTL, s.Delta)
	var rows []Row
	for _, jitter := range []float64{0, 0.1, 0.5, enough} {
		s.Jitter, s.Seed = jitter, st.rng.Uint64()
		if err := s.Validate(); err != nil {
			return nil, err
		}
		width := 0.1 * s.Delta.Seconds() // of the peak, where it is nearly flat
		if jitter > 0 {
			width = jitter * s.TTL.Seconds() / 4
		}
		starts := refresh.Starts(s)
		first, all := peak(starts, width)
		theory := xfetch.PeakStarts(together, 1, jitter, s.TTL, s.Delta)
		of := fmt.Sprintf(", jitter %.3g", jitter)
		rows = append(rows, perSecond("first loads a second at the peak"+of, first, len(starts), width, theory))
		if jitter > 0 {
			got := float64(all) / float64(len(starts)) * together / width
			chance := 4 * 1.5 / math.Sqrt(float64(first)) // loads vary by 0.8 of their mean, and so do starts
			rows = append(rows, bounded("loads a second there"+of, AtMost, theory*loads*(1+chance), got))
		}
	}
	return rows, nil
}

// perSecond is a row of a density: hits of n starts in a window, for all the keys.
func perSecond(figure string, hits, n int, width, theory float64) Row {
	e := estimate.Proportion(hits, n, theory/together*width)
	scale := together / width
	e.Observed, e.StdErr, e.Theory = e.Observed*scale, e.StdErr*scale, e.Theory*scale
	return closed(figure, e)
}

// peak counts the first loads, and all of them, in a window of the width round the
// place where they should be densest: 1/e of a Gumbel law lies beyond its highest
// point, and half of a wide spread beyond its middle.
func peak(starts []refresh.Start, width float64) (first, all int) {
	at := make([]float64, len(starts))
	for i, s := range starts {
		at[i] = s.At
	}
	slices.Sort(at)
	top := at[int(float64(len(at))*(1-1/math.E))]
	if width > 1 {
		top = at[len(at)/2]
	}
	for _, s := range starts {
		if math.Abs(s.At-top) <= width/2 {
			first++
			all += s.Loads
		}
	}
	return first, all
}

func playShorterLives(st *stage) ([]Row, error) {
	var rows []Row
	for _, jitter := range []float64{0, 0.1, 0.5} {
		s := key(1000, 1)
		s.Delta, s.TTL, s.Jitter = 10*time.Millisecond, minute, jitter
		leased(&s)
		r, err := st.refresh(s)
		if err != nil {
			return nil, err
		}
		f, of := r.Thinned, fmt.Sprintf(", jitter %g", jitter)
		law := xfetch.Law{Rate: s.Rate, Scale: s.Delta, Aware: s.RoundTrip}
		rows = append(rows,
			closed("seconds from one value to the next"+of, f.Life).shownBy(s.Command()),
			closedBy("loads per ttl"+of, loadsPer(f, s.TTL), law.LoadsPerTTL(s.TTL, jitter, s.Delta+s.RoundTrip)).shownBy(s.Command()))
	}
	return rows, nil
}
