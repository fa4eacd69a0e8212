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
	var list []string
	if why := s.eventsLeftOut(); why != "" {
		list = append(list, why+".")
	}
	switch aim := s.usual(); {
	case aim.Scale == 0:
		list = append(list, "beta is 0: nothing is refreshed early.")
	case !s.lawHolds():
		list = append(list, s.shortLife(aim))
	case s.Rule == Classic && s.lateShare() > 0.01:
		list = append(list, fmt.Sprintf(
			"at %.3g reads per load time %.3g %% of refreshes come late; %s.",
			s.Rate*s.Delta.Seconds(), 100*s.lateShare(), s.remedy()))
	}
	if s.Coordination == None && s.Stored > 0 && s.Delta > s.Stored {
		list = append(list, fmt.Sprintf(
			"loads take %.3g times what is remembered of them: without a lease, that is e^%.3g loads per expiry.",
			float64(s.Delta)/float64(s.Stored), float64(s.lead())/float64(s.usual().Scale)))
	}
	return list
}

func (s Setup) shortLife(aim xfetch.Aim) string {
	shortest := max(aim.Shift, 0) + xfetch.Scale(aim.Scale, math.Log(s.law(0).ReadsPerScale())+3)
	return fmt.Sprintf(
		"ttl is short: %.3g %% of entries are elected as soon as they are written, and the closed forms do not hold. A life should be longer than s(ln rs + 3) = %s; a cache that coalesces should bound s to ttl/16 = %s.",
		100*s.electedAtBirth(), short(shortest), short(xfetch.ClampScale(aim.Scale, s.TTL)))
}

func (s Setup) lateShare() float64 { return s.law(0).LateProbability(s.lead()) }

// remedy says what would bring late refreshes down to 1 %: e^{-n} of expiries are
// late, n being the starts expected while there is time, and n grows with the
// rate.
func (s Setup) remedy() string {
	starts := newHazard(s.Rate, s.usual(), 0).mean(s.lead().Seconds())
	rate := s.Rate * math.Log(100) / starts
	if !(rate <= maxRate) {
		return "no read rate would help at this beta"
	}
	return fmt.Sprintf("1 %% would need about %.3g reads/s, or -rule deadline", rate)
}

// short rounds a duration to what is worth reading.
func short(d time.Duration) string {
	for unit := time.Duration(1); unit < time.Hour; unit *= 10 {
		if d.Abs() < 10_000*unit {
			return d.Round(unit).String()
		}
	}
	return d.Round(time.Second).String()
}
