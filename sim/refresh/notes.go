package refresh

import (
	"fmt"
	"math"
	"time"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// notes says where the closed forms do not hold, and where early refresh does
// not help.
func notes(s Setup) []string {
	if s.scale() == 0 {
		return []string{"beta is 0: nothing is refreshed early."}
	}
	if !s.lawHolds() {
		return []string{fmt.Sprintf(
			"ttl is short: %.3g %% of entries are elected as soon as they are written, and the closed forms do not hold. A life should be longer than s(ln rs + 3) = %s; a cache that coalesces should bound s to ttl/16 = %s.",
			100*s.electedAtBirth(), short(s.shortestTTL()), short(xfetch.ClampScale(s.scale(), s.TTL)))}
	}
	if late := s.law().LateProbability(s.Delta); late > 0.01 {
		return []string{fmt.Sprintf(
			"at %.3g reads per load time %.3g %% of refreshes come late; %s.",
			s.Rate*s.Delta.Seconds(), 100*late, s.remedy())}
	}
	return nil
}

// remedy says what would bring late refreshes down to 1 %: e^{-n} of expiries are
// late, n being the starts expected while there is time, and n grows with the
// rate.
func (s Setup) remedy() string {
	starts := s.law().ReadsPerScale() * xfetch.Probability(s.Delta, s.scale())
	rate := s.Rate * math.Log(100) / starts
	if !(rate <= maxRate) {
		return "no read rate would help at this beta"
	}
	return fmt.Sprintf("1 %% would need about %.3g reads/s", rate)
}

// lawHolds tells whether lives are long enough for the closed forms.
func (s Setup) lawHolds() bool { return s.electedAtBirth() < 1e-5 }

// electedAtBirth is the share of entries whose first refresh would have started
// before they were written, had they lived longer.
func (s Setup) electedAtBirth() float64 {
	if s.scale() == 0 {
		return 0
	}
	return -math.Expm1(-s.law().ReadsPerScale() * xfetch.Probability(s.TTL, s.scale()))
}

// shortestTTL is the life below which more than 5 % are elected at birth.
func (s Setup) shortestTTL() time.Duration {
	return xfetch.Scale(s.scale(), math.Log(s.law().ReadsPerScale())+3)
}
