package hotkeys

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHysteresis_lifeOfAHotKey(t *testing.T) {
	rule := Hysteresis{Threshold: 700} // hot from 544 on, cool below 233.3
	var s Standing
	for _, step := range []struct {
		at    float64 // s
		lower float64
		hot   bool
		why   string
	}{
		{0, 543.9, false, "below the margin"},
		{1, 544, true, "at the margin"},
		{2, 300, true, "between the limits a hot key stays hot"},
		{10, 0, true, "three windows have not passed"},
		{13, 0, true, "they have, but it has not been hot for 30 s"},
		{20, 234, true, "warm again: the cooling starts anew"},
		{30, 100, true, "cooling"},
		{32.9, 100, true, "for less than three windows"},
		{33, 100, false, "three windows cool and more than 30 s hot"},
		{34, 300, false, "between the limits a cool key stays cool"},
		{35, 600, true, "hot again, with nothing to wait for"},
	} {
		s = rule.Next(s, step.lower, time.Duration(step.at*1e9))
		require.Equal(t, step.hot, s.Hot, "at %v s: %s", step.at, step.why)
	}
}

// swing plays ten minutes of a rate that swings, with noise, and returns the
// most changes of state within any minute.
func swing(rule Hysteresis, rate func(at time.Duration) float64) (most int) {
	var s Standing
	var changes []time.Duration
	for now := time.Duration(0); now < 10*time.Minute; now += 100 * time.Millisecond {
		next := rule.Next(s, rate(now), now)
		if next.Hot != s.Hot {
			changes = append(changes, now)
		}
		s = next
	}
	for i, from := range changes {
		n := 0
		for _, at := range changes[i:] {
			if at < from+time.Minute {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

func TestHysteresis_swingsRoundALimitChangeLittle(t *testing.T) {
	const threshold = 5000
	rule := Hysteresis{Threshold: threshold}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, limit := range []float64{threshold, Margin * threshold, threshold / 3.0} {
		for _, period := range []time.Duration{time.Second, 7 * time.Second, time.Minute} {
			sine := func(at time.Duration) float64 {
				phase := 2 * math.Pi * at.Seconds() / period.Seconds()
				return limit * (1 + 0.1*math.Sin(phase) + 0.03*r.NormFloat64())
			}
			require.LessOrEqual(t, swing(rule, sine), 2, "round %v every %v", limit, period)
		}
	}
}

func TestHysteresis_withoutItTheSameTrafficFlaps(t *testing.T) {
	rule := Hysteresis{Threshold: 5000, Cool: -1, Dwell: -1}
	half := func(at time.Duration) float64 { // on for a second, off for a second
		return 10_000 * float64(at/time.Second%2)
	}
	require.Greater(t, swing(rule, half), 50)
	require.LessOrEqual(t, swing(Hysteresis{}, half), 2, "a third off in time is not off for three windows")
}

func TestHysteresis_offAndNonsense(t *testing.T) {
	for _, threshold := range []float64{-1, math.NaN(), math.Inf(1)} {
		require.False(t, Hysteresis{Threshold: threshold}.Next(Standing{}, 1e300, 0).Hot)
	}
	require.False(t, Hysteresis{Threshold: -1}.Next(Standing{Hot: true}, 1e300, 0).Hot)
	require.False(t, Hysteresis{}.Next(Standing{}, math.NaN(), 0).Hot)
	require.Equal(t, Hysteresis{Threshold: 5000}.Next(Standing{}, Margin*5000, 9), Hysteresis{}.Next(Standing{}, Margin*5000, 9))
	once := Hysteresis{Cool: -1, Dwell: -1}
	require.False(t, once.Next(once.Next(Standing{}, 5000, 0), 0, 0).Hot)
}
