package refresh

import (
	"math/rand/v2"
	"time"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// Election is how often a read with Left until expiry was elected to refresh.
type Election struct {
	Left    time.Duration
	Scales  float64 // Left in scales
	Draws   int
	Elected int
	Share   Estimate
}

// inScales are the times left for which elections are counted. The first lies
// beyond the window.
var inScales = []float64{40, 25, 10, 7, 5, 3, 2, 1, 0.5, 0.25, 0}

// countElections draws for one read at a time. Lives shorter than a time left
// skip that row, and without a scale only the last row is left.
func countElections(s Setup, rng *rand.Rand) []Election {
	var rows []Election
	for _, n := range inScales {
		left := xfetch.Scale(s.scale(), n)
		if left > s.TTL || (left == 0 && n > 0) {
			continue
		}
		rows = append(rows, countElection(left, n, s, rng))
	}
	return rows
}

func countElection(left time.Duration, n float64, s Setup, rng *rand.Rand) Election {
	elected := 0
	for range s.Draws {
		if xfetch.Due(left, s.scale(), rng.Float64()) {
			elected++
		}
	}
	p := xfetch.Probability(left, s.scale())
	return Election{left, n, s.Draws, elected, proportion(elected, s.Draws, p)}
}
