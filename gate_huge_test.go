package earlybird

import (
	"math"
	"testing"
)

// A limit beyond reach is no limit, also where multiples of it overflow.
func TestGate_hugeLimitsDoNotOverflow(t *testing.T) {
	for _, limit := range []int{math.MaxInt, math.MaxInt/2 + 1, math.MaxInt / 3, math.MaxInt / 8, 1 << 30} {
		g := newGate(limit, Off, Off)
		arrive(t, g, 100, background, admitted)
		arrive(t, g, 100, urgent, admitted)
	}
}
