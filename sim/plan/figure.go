package plan

import (
	"fmt"
	"math"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// Figure is one result with the formula it follows from, in words and in numbers.
type Figure struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Words   string `json:"words"`
	Numbers string `json:"numbers"`
}

// Figures are what to set.
func (p Plan) Figures() []Figure {
	return []Figure{p.rule(), p.scale(), p.spread(), p.limit(), p.pace(), p.near(), p.split()}
}

func (p Plan) rule() Figure {
	r := p.Refresh
	f := Figure{Name: "rule", Value: "classic", Words: "refresh iff -s ln u >= time left - t0, and draws aim at expiry", Numbers: "t0 = 0"}
	if r.isClassic() {
		return f
	}
	law, lead := r.Law, p.Setup.cost().Lead()
	lambda := r.Rule.Lambda(law.Rate/xfetch.Caution, law.Aware)
	rate := law.Rate / xfetch.Caution
	f.Value = fmt.Sprintf("deadline, late %.3g", r.Rule.Late)
	f.Words = "t0 = d + λ/r - s for rs < λ, and at most φT, with a quarter of the rate for r"
	f.Numbers = fmt.Sprintf("t0 = %s + %.3g/%.4g/s - %s = %s", short(lead), lambda, rate, short(law.Scale), short(r.Aim.Shift))
	switch full := xfetch.Shift(rate, law.Scale, lead, lambda); {
	case full > r.Aim.Shift:
		f.Numbers += fmt.Sprintf(", cut from %s", short(full))
	case rate*law.Scale.Seconds() >= lambda:
		f.Words = "t0 = d + s ln(λ/rs) for rs >= λ, with a quarter of the rate for r"
		f.Numbers = fmt.Sprintf("t0 = %s + %s ln(%.3g/%.4g) = %s", short(lead), short(law.Scale), lambda, rate*law.Scale.Seconds(), short(r.Aim.Shift))
	}
	return f
}

func (p Plan) scale() Figure {
	s, r := p.Setup, p.Refresh
	f := Figure{
		Name: "beta", Value: fmt.Sprintf("%.4g", r.Beta),
		Words:   "scale s = beta δ, at most 1/16 of a life",
		Numbers: fmt.Sprintf("s = %.4g * %s", r.Beta, short(s.Delta)),
	}
	if full := xfetch.Scale(s.Delta, r.Beta); full > r.Aim.Scale {
		f.Numbers += fmt.Sprintf(", cut to %s", short(r.Aim.Scale))
	}
	rate, _ := s.readers()
	lead, lambda := s.cost().Lead(), xfetch.Draw(s.Late)
	switch {
	case !r.isClassic() || r.Beta == 1:
	case r.Beta == s.timelyBeta(rate):
		f.Words = "the smallest scale in time: s = d / W(r d/λ), W being Lambert's function, λ = -ln late"
		f.Numbers = fmt.Sprintf("s = %s / W(%.4g * %s / %.3g) = %s", short(lead), rate, short(lead), lambda, short(r.Aim.Scale))
	default:
		f.Words = "the scale of the fewest loads: s = √(w (T-G)/ℓ), ℓ = ln(rs) + γ + 1"
		l := math.Log(r.Law.ReadsPerScale()) + 1.5772
		f.Numbers = fmt.Sprintf("s = √(%s * %s / %.3g) = %s", short(s.RoundTrip), short(s.TTL+s.Delta-r.Gap), l, short(r.Aim.Scale))
	}
	return f
}

func (p Plan) spread() Figure {
	s := p.Setup
	return Figure{
		Name: "jitter", Value: fmt.Sprintf("%.2g", p.jitter()),
		Words: "j >= n N / (T C), C being the refreshes per second that pass the gate; 0.1 at least",
		Numbers: fmt.Sprintf("%d * %.4g / (%s * %s/s) = %.3g", p.entries(), p.Refresh.Loads, short(s.TTL), number(p.Through),
			float64(p.entries())*p.Refresh.Loads/s.TTL.Seconds()/p.Through),
	}
}

func (p Plan) limit() Figure {
	s := p.Setup
	margin := float64(p.MaxLoads) / s.calls() / s.Delta.Seconds()
	return Figure{
		Name: "MaxLoads", Value: fmt.Sprint(p.MaxLoads),
		Words:   "calls per second times a load's time, and a margin of 1.2 to 2; three in ten for refreshes",
		Numbers: fmt.Sprintf("%s/s * %s * %.3g", number(s.calls()), short(s.Delta), margin) + p.perInstance(),
	}
}

func (p Plan) perInstance() string {
	if p.Setup.Instances == 1 {
		return ""
	}
	return fmt.Sprintf("; %d for each of %d instances", p.each(), p.Setup.Instances)
}

func (p Plan) pace() Figure {
	s := p.Setup
	f := Figure{
		Name: "MaxLoadRate", Value: number(p.MaxLoadRate) + "/s",
		Words: "what the origin completes", Numbers: number(s.Capacity) + "/s",
	}
	if p.MaxLoadRate < s.Capacity {
		f.Words = "what the origin completes: calls at once over a load's time"
		f.Numbers = fmt.Sprintf("%d / %s", s.Concurrent, short(s.Delta))
	}
	if s.Instances > 1 {
		f.Numbers += fmt.Sprintf("; %s/s for each of %d instances", number(p.MaxLoadRate/float64(s.Instances)), s.Instances)
	}
	return f
}

func (p Plan) near() Figure {
	s := p.Setup
	f := Figure{Name: "L1 TTL", Value: "none", Words: "M (1/R - 1/r), R being what a node has room for, 0.6 C - other"}
	room := xfetch.NodeShare*s.Node - s.Other
	switch {
	case !s.shared():
		f.Words, f.Numbers = "there is no shared store to be spared", "-"
	case p.L1TTL == 0 && s.Rate <= room:
		f.Numbers = fmt.Sprintf("%s/s <= %s/s", number(s.Rate), number(room))
	case room <= 0:
		f.Value, f.Numbers = short(p.L1TTL), fmt.Sprintf("R = 0.6 * %s/s - %s/s = %s/s", number(s.Node), number(s.Other), number(room))
	default:
		f.Value = short(p.L1TTL)
		f.Numbers = fmt.Sprintf("%d * (1/%s - 1/%s) s = %s", s.Instances, number(room), number(s.Rate), short(xfetch.L1TTL(s.Rate, s.Instances, room)))
		if p.Copies > 1 {
			f.Numbers += fmt.Sprintf(", cut to -staleness %s", short(s.Staleness))
		}
	}
	return f
}

func (p Plan) split() Figure {
	s := p.Setup
	f := Figure{
		Name: "copies", Value: fmt.Sprint(p.Copies),
		Words:   "⌈R / (0.6 C - other)⌉, R = M / (L1 TTL + M/r)",
		Numbers: fmt.Sprintf("⌈%s / (0.6 * %s - %s)⌉", number(p.Store), number(s.Node), number(s.Other)),
	}
	if !s.shared() {
		f.Words, f.Numbers = "there is no shared store to split keys in", "-"
	}
	return f
}
