package scenarios

import (
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/sim/estimate"
)

func playLives(st *stage) ([]Row, error) {
	const keys = 20
	var rows []Row
	for _, c := range []struct {
		how    string
		ttl    time.Duration
		jitter float64
	}{
		{"no jitter", minute, earlybird.Off},
		{"60 ± 10 s", 70 * second, 20.0 / 70},
	} {
		lives, most, err := st.lives(keys, c.ttl, c.jitter)
		if err != nil {
			return nil, err
		}
		if c.jitter < 0 {
			rows = append(rows, counted("loads in the worst second, "+c.how, keys, most))
			continue
		}
		spread := 20 / math.Sqrt(12)
		e := estimate.Estimate{Observed: mean(lives), StdErr: spread / math.Sqrt(float64(len(lives)))}
		rows = append(rows,
			// Twenty in twenty seconds: eight in one has a chance of some 1e-4.
			bounded("loads in the worst second, "+c.how, AtMost, 8, float64(most)),
			bounded("shortest life, "+c.how, AtLeast, 50, slices.Min(lives)),
			bounded("longest life, "+c.how, AtMost, 70.01, slices.Max(lives)),
			closedBy("mean life, "+c.how, e, 60))
	}
	return rows, nil
}

// lives warms keys at once and reads each ten times a second until all have been
// loaded again. It returns the seconds that passed, and the most in one second.
func (st *stage) lives(keys int, ttl time.Duration, jitter float64) (lives []float64, most int, err error) {
	ctx := context.Background()
	began := make(map[string]time.Time)
	var bySecond [100]int
	load := func(_ context.Context, key string) (string, error) {
		if at, again := began[key]; again {
			life := time.Since(at).Seconds()
			lives = append(lives, life)
			bySecond[min(int(life), len(bySecond)-1)]++
			most = max(most, bySecond[min(int(life), len(bySecond)-1)])
		}
		began[key] = time.Now()
		return key, nil
	}
	opts := earlybird.Options[string]{TTL: ttl, Jitter: jitter, Beta: earlybird.Off, Rand: st.rng.Float64}
	err = st.inLab(load, opts, func(cache *earlybird.Cache[string]) error {
		for end := time.Now().Add(ttl + 10*time.Millisecond); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			for i := range keys {
				if _, err := cache.Get(ctx, strconv.Itoa(i)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return lives, most, err
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}
