package refresh

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun_atTheEdges(t *testing.T) {
	edges := map[string]func(*Setup){
		"a read in a million seconds": func(s *Setup) { s.Rate = minRate },
		"a trillion reads a second":   func(s *Setup) { s.Rate, s.Beta = maxRate, 1 },
		"no early refresh":            func(s *Setup) { s.Beta = 0 },
		"hardly any early refresh":    func(s *Setup) { s.Beta = 1e-5 },
		"a life of a year":            func(s *Setup) { s.TTL = maxTTL },
		"a load of a microsecond":     func(s *Setup) { s.Delta, s.TTL, s.Rate = minTime, maxTTL, 1e6 },
		"a million instances":         func(s *Setup) { s.Instances, s.Coordination, s.Events = 1_000_000, Singleflight, 12_000 },
		"two expiries":                func(s *Setup) { s.Expiries = 2 },
		"no life left":                func(s *Setup) { s.Jitter = 1 },
	}
	for name, change := range edges {
		t.Run(name, func(t *testing.T) {
			s := hot(50, 1)
			s.Expiries, s.Events = 2000, 100_000
			change(&s)
			r := run(t, s)
			for _, row := range r.Thinned.rows(s) {
				require.False(t, math.IsNaN(row.e.Observed) || math.IsInf(row.e.Observed, 0), row.name)
			}
			requireAgreement(t, r)
		})
	}
}
