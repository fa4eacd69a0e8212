package plan

import (
	"math"
	"time"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// Refresh is a way to refresh early and what comes of it for one key.
type Refresh struct {
	Rule xfetch.Rule
	Beta float64
	Aim  xfetch.Aim // of an entry of mean life
	Law  xfetch.Law // likewise

	Late  float64       // share of refreshes that start with less than the lead left
	Loads float64       // per expiry
	Extra float64       // loads per life, less one
	Gap   time.Duration // before expiry at which the first starts, on average; negative after it
}

// lives is how many lives stand for all that jitter makes: an aim depends on the
// life, and short ones have no time for it.
const lives = 16

// refresh predicts what a rule does for a key with rate reads per second per
// entry.
func (s Setup) refresh(rule xfetch.Rule, beta, rate, jitter float64) Refresh {
	mean := xfetch.MeanLife(s.TTL, jitter)
	r := Refresh{Rule: rule, Beta: beta, Law: s.law(rule, beta, rate, mean)}
	r.Aim = xfetch.Aim{Scale: r.Law.Scale, Shift: r.Law.Shift}
	gap := 0.0
	for i := range lives {
		life := xfetch.Life(s.TTL, jitter, (float64(i)+0.5)/lives)
		law := s.law(rule, beta, rate, life)
		early, hard := law.LoadsPerExpiry()
		r.Loads += (early + hard) / lives
		gap += min(law.ExpectedLeft(), life).Seconds() / lives
		late := law.LateProbability(s.cost().Lead())
		if s.cost().Lead() >= life {
			late = 1
		}
		r.Late += late / lives
	}
	r.Gap = seconds(gap)
	cycle := mean.Seconds() - gap + s.Delta.Seconds()
	r.Extra = min(r.Loads/cycle, rate)*mean.Seconds() - 1
	return r
}

// law is that of an entry that lives for life. The deadline rule builds on the part
// of the rate that it will rely on.
func (s Setup) law(rule xfetch.Rule, beta, rate float64, life time.Duration) xfetch.Law {
	known := xfetch.Known{Cost: s.cost(), Rate: rate / xfetch.Caution, Aware: s.RoundTrip}
	aim := rule.Aim(known, beta, life)
	return xfetch.Law{Rate: rate, Scale: aim.Scale, Shift: aim.Shift, Aware: s.RoundTrip}
}

func (r Refresh) isClassic() bool { return !(r.Rule.Late > 0) }

// usualBeta is the most of what one would call a beta: above, the window grows
// wide for keys of every rate, and the deadline rule is tried first.
const usualBeta = 4

// choose returns the simplest way to refresh that meets both targets: the
// defaults, another beta, the deadline rule, that rule with no more promised than
// asked, any beta. If none does it returns the one that comes nearest.
func (s Setup) choose(jitter float64) Refresh {
	rate, _ := s.readers()
	var best Refresh
	for i, try := range []struct {
		rule xfetch.Rule
		beta float64
	}{
		{xfetch.Classic, 1},
		{xfetch.Classic, min(s.timelyBeta(rate), usualBeta)},
		{xfetch.Classic, s.cheapBeta(rate)},
		{xfetch.Deadline, 1},
		{xfetch.Rule{Late: s.Late}, 1},
		{xfetch.Classic, s.timelyBeta(rate)},
	} {
		r := s.refresh(try.rule, try.beta, rate, jitter)
		if i == 0 || s.misses(r) < s.misses(best) || s.misses(r) == s.misses(best) && s.misses(r) > 0 && r.Late < best.Late {
			best = r
		}
	}
	return best
}

// misses is how many targets are missed.
func (s Setup) misses(r Refresh) (n int) {
	if r.Late > s.Late {
		n++
	}
	if r.Extra > s.Extra {
		n++
	}
	return n
}

// timelyBeta is the least beta with which the classic rule is in time.
func (s Setup) timelyBeta(rate float64) float64 {
	return roundUp(float64(xfetch.TimelyScale(rate, s.cost().Lead(), s.Late)) / float64(s.Delta))
}

// cheapBeta is the beta with which the classic rule costs the fewest loads, or 1
// where early refresh prevents no crowd.
func (s Setup) cheapBeta(rate float64) float64 {
	scale := xfetch.BestScale(rate, s.RoundTrip, s.TTL+s.Delta)
	if scale == 0 {
		return 1
	}
	return roundUp(float64(scale) / float64(s.Delta))
}

// roundUp rounds to three digits, upwards.
func roundUp(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-2)
	return math.Ceil(x/unit*(1-1e-9)) * unit
}
