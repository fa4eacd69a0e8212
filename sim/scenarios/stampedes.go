package scenarios

import (
	"fmt"
	"math"
	"time"

	"github.com/earlybird-cache/earlybird/sim/estimate"
	"github.com/earlybird-cache/earlybird/sim/refresh"
	"github.com/earlybird-cache/earlybird/xfetch"
)

const (
	second = time.Second
	minute = time.Minute
)

// What early refresh does to one key when nothing coordinates its readers.
var stampedes = []Scenario{
	{"draws", "Is a read elected?",
		"Reads of an entry that took 400 ms to load, with some time left: each draws, and is elected with probability e^{-left/s}.",
		playDraws},
	{"stampede", "What does an expiry cost?",
		"A key with a load of 1 s and a life of two minutes, by its read rate and beta. Readers share nothing but the entry.",
		playStampede},
	{"sizes", "How large do stampedes get?",
		"A hot key at beta 1: the number of loads per expiry is geometric.",
		playSizes},
	{"late", "Which keys are refreshed in time?",
		"The classic rule at beta 1 needs readers: the share of expiries at which the new value is not there, by reads per load time.",
		playLate},
	{"slow-origin", "What if loads take longer than is remembered?",
		"An origin that turns slower than the entries remember, with nothing but early refresh before it: the crowd grows as e to the power of the delay. Hence the lease, and the smoothed estimate.",
		playSlowOrigin},
	{"uniform", "Why not draw evenly?",
		"A rule that refreshes a read with t left with probability 1-t/10 s: its cost grows with the read rate.",
		playUniform},
}

func playDraws(st *stage) ([]Row, error) {
	s := refresh.Default
	s.Expiries, s.Events, s.Draws = 200, 0, st.times(20_000_000)
	r, err := st.refresh(s)
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, e := range r.Elections {
		switch e.Scales {
		case 25, 5, 1, 0.25:
			rows = append(rows, closed(fmt.Sprintf("share elected with %v left", e.Left), e.Share).shownBy("sim refresh"))
		}
	}
	return append(rows, wrongSign(st), wholeSeconds(st)), nil
}

// wrongSign adds delta*beta*ln(u) instead of subtracting it.
func wrongSign(st *stage) Row {
	const left, scale = 100 * time.Millisecond, 400 * time.Millisecond
	n, elected := st.times(1_000_000), 0
	for range n {
		if -xfetch.Draw(st.rng.Float64())*float64(scale) >= float64(left) {
			elected++
		}
	}
	e := estimate.Proportion(elected, n, xfetch.Probability(left, scale))
	r := closed("share elected with 100ms left, the sign reversed", e)
	r.Basis = Misprint
	return r
}

// wholeSeconds keeps a load's time in whole seconds.
func wholeSeconds(st *stage) Row {
	const left, load = 100 * time.Millisecond, 400 * time.Millisecond
	n, elected := st.times(1_000_000), 0
	for range n {
		if xfetch.Due(left, xfetch.Scale(load.Truncate(second), 1), st.rng.Float64()) {
			elected++
		}
	}
	e := estimate.Proportion(elected, n, xfetch.Probability(left, load))
	r := closed("share elected with 100ms left, the load's 400ms kept as whole seconds", e)
	r.Basis = Misprint
	return r
}

func playStampede(st *stage) ([]Row, error) {
	var rows []Row
	for _, k := range []struct{ rate, beta float64 }{
		{0.1, 1}, {1, 1}, {3, 1}, {10, 1}, {100, 1}, {100, 0.5}, {100, 1.5}, {100, 2}, {100, 4},
	} {
		s := key(k.rate, k.beta)
		r, err := st.refresh(s)
		if err != nil {
			return nil, err
		}
		of := fmt.Sprintf(", %g reads per load time, beta %g", k.rate, k.beta)
		f := r.Thinned
		for _, row := range []Row{
			closed("loads per expiry"+of, f.Loads),
			closed("share with a single load"+of, f.Single),
			closed("early loads"+of, f.Early),
			closed("hard loads"+of, f.Hard),
			closed("seconds left at the first start"+of, f.Gap),
			closed("share late"+of, f.Late),
		} {
			rows = append(rows, row.shownBy(s.Command()))
		}
		if k.rate == 100 && k.beta == 1 {
			one := closedBy("loads per expiry of a hot key, said to be one", f.Loads, 1)
			one.Basis = Misprint
			rows = append(rows, one.shownBy(s.Command()))
		}
	}
	return rows, nil
}

func playSizes(st *stage) ([]Row, error) {
	s := key(1000, 1)
	s.Expiries = 4_000_000
	r, err := st.refresh(s)
	if err != nil {
		return nil, err
	}
	law := xfetch.Law{Rate: s.Rate, Scale: s.Delta, Aware: s.Delta}
	var rows []Row
	for _, k := range []int{1, 2, 5, 10, 20, 30} {
		over := 0
		for i, n := range r.Thinned.Sizes {
			if i+1 > k {
				over += n
			}
		}
		e := estimate.Proportion(over, r.Thinned.Expiries, law.StampedeTail(k))
		rows = append(rows, closed(fmt.Sprintf("share of expiries with more than %d loads", k), e).shownBy(s.Command()))
	}
	return rows, nil
}

func playLate(st *stage) ([]Row, error) {
	var rows []Row
	for _, rate := range []float64{3, 12.5, 25, 50} {
		s := key(rate, 1)
		s.Expiries = 3_000_000
		r, err := st.refresh(s)
		if err != nil {
			return nil, err
		}
		rows = append(rows, closed(fmt.Sprintf("share late, %g reads per load time", rate), r.Thinned.Late).shownBy(s.Command()))
	}
	return rows, nil
}

func playSlowOrigin(st *stage) ([]Row, error) {
	var rows []Row
	for _, slower := range []int{1, 2, 3, 5} {
		s := key(100_000, 1)
		s.Stored, s.Delta, s.Expiries = second, time.Duration(slower)*second, 300_000
		r, err := st.refresh(s)
		if err != nil {
			return nil, err
		}
		rows = append(rows, closed(fmt.Sprintf("loads per expiry, loads %d times as long as remembered", slower), r.Thinned.Loads).shownBy(s.Command()))
	}
	return rows, nil
}

// playUniform plays every read from the point where the rule begins, ξ before
// expiry. With reads at rate r the starts are Poisson with the mean r*x²/2ξ at x
// past that point, hence the first comes at √(πξ/2r) on average and
//
//	E[N] = 1 + δ√(πr/2ξ) + rδ²/2ξ
func playUniform(st *stage) ([]Row, error) {
	const window, load = 10.0, 1.0
	var rows []Row
	for _, rate := range []float64{10, 100, 1000} {
		var loads estimate.Sample
		for range st.times(int(2e7 / rate)) {
			loads.Add(uniformStampede(st, rate, window, load))
		}
		theory := 1 + load*math.Sqrt(math.Pi*rate/2/window) + rate*load*load/2/window
		rows = append(rows, closedBy(fmt.Sprintf("loads per expiry, %g reads per load time", rate), loads.Alone(), theory))
	}
	return rows, nil
}

func uniformStampede(st *stage, rate, window, load float64) (n float64) {
	until := math.Inf(1)
	for x := st.rng.ExpFloat64() / rate; x < until; x += st.rng.ExpFloat64() / rate {
		if st.rng.Float64()*window >= x {
			continue
		}
		if n++; n == 1 {
			until = x + load
		}
	}
	return n
}
