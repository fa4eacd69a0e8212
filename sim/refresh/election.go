package refresh

import (
	"math/rand/v2"
	"time"

	"github.com/earlybird-cache/earlybird/sim/estimate"
	"github.com/earlybird-cache/earlybird/xfetch"
)

// Election is how often a read with Left until expiry was elected to refresh.
type Election struct {
	Left    time.Duration
	Scales  float64 // Left in scales
	Draws   int
	Elected int
	Share   estimate.Estimate
}

// inScales are the times left for which elections are counted. The first lies
// beyond the window.
var inScales = []float64{40, 25, 10, 7, 5, 3, 2, 1, 0.5, 0.25, 0}

// countElections draws for one read at a time. Lives shorter than a time left
// skip that row, and without a scale only the last row is left.
func countElections(s Setup, rng *rand.Rand) []Election {
	var rows []Election
	aim := s.usual()
	for _, n := range inScales {
		left := xfetch.Scale(aim.Scale, n)
		if left > s.TTL || (left == 0 && n > 0) {
			continue
		}
		rows = append(rows, countElection(aim, left, n, s.Draws, rng))
	}
	return rows
}

func countElection(aim xfetch.Aim, left time.Duration, n float64, draws int, rng *rand.Rand) Election {
	elected := 0
	for range draws {
		if aim.Due(left, rng.Float64()) {
			elected++
		}
	}
	return Election{left, n, draws, elected, estimate.Proportion(elected, draws, aim.Probability(left))}
}
