package scenarios

import (
	"fmt"
	"math"
	"time"

	"github.com/earlybird-cache/earlybird/sim/estimate"
	"github.com/earlybird-cache/earlybird/sim/refresh"
)

// What it helps when readers know of one another.
var coordination = []Scenario{
	{"singleflight", "Does singleflight help a fleet?",
		"A hot key at beta 1 on several instances, each of which runs one load of the key at a time. It hardly helps: the crowd is one reader in each of many instances.",
		playSingleflight},
	{"awareness", "What decides how many load?",
		"The time from the first start until nobody else starts: a load without coordination, that and the lag with replicas, a round trip with a lease that is taken after a successful draw.",
		playAwareness},
	{"waiting", "Who waits?",
		"A key read once a second that lives a minute, refreshed at a scale of one second, by loads that take no time: the share of reads that wait, behind their backs, in line, and without early refresh.",
		playWaiting},
}

func playSingleflight(st *stage) ([]Row, error) {
	var rows []Row
	for _, m := range []int{1, 2, 4, 10, 30, 100} {
		s := key(100, 1)
		s.Coordination, s.Instances = refresh.Singleflight, m
		r, err := st.refresh(s)
		if err != nil {
			return nil, err
		}
		rows = append(rows, closed(fmt.Sprintf("loads per expiry, %d instances", m), r.Thinned.Loads).shownBy(s.Command()))
	}
	return rows, nil
}

func playAwareness(st *stage) ([]Row, error) {
	var rows []Row
	for _, c := range []struct {
		of     string
		change func(*refresh.Setup)
	}{
		{"nothing: a load", func(*refresh.Setup) {}},
		{"replicas half a load behind", func(s *refresh.Setup) { s.Lag = s.Delta / 2 }},
		{"a lease, round trip a tenth of a load", func(s *refresh.Setup) { s.Coordination, s.RoundTrip = refresh.Lease, s.Delta/10 }},
		{"a lease, round trip a hundredth", func(s *refresh.Setup) { s.Coordination, s.RoundTrip = refresh.Lease, s.Delta/100 }},
	} {
		s := key(1000, 1)
		c.change(&s)
		r, err := st.refresh(s)
		if err != nil {
			return nil, err
		}
		rows = append(rows, closed("loads per expiry, "+c.of, r.Thinned.Loads).shownBy(s.Command()))
	}
	return rows, nil
}

func playWaiting(st *stage) ([]Row, error) {
	var rows []Row
	for _, c := range []struct {
		of     string
		change func(*refresh.Setup)
	}{
		{"loads in the background", func(*refresh.Setup) {}},
		{"loads in line", func(s *refresh.Setup) { s.Inline = true }},
		{"no early refresh", func(s *refresh.Setup) { s.Beta = 0 }},
	} {
		s := key(1, 1)
		s.TTL, s.Delta, s.Stored = minute, time.Microsecond, second
		c.change(&s)
		r, err := st.refresh(s)
		if err != nil {
			return nil, err
		}
		waits, life := r.Thinned.Waits, r.Thinned.Life
		share := estimate.Estimate{
			Observed: waits.Observed / life.Observed / s.Rate,
			StdErr:   math.Hypot(waits.StdErr/waits.Observed, life.StdErr/life.Observed) * waits.Observed / life.Observed / s.Rate,
		}
		rows = append(rows, closedBy("share of reads that wait, "+c.of, share, waits.Theory/life.Theory/s.Rate).shownBy(s.Command()))
	}
	return rows, nil
}
