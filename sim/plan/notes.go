package plan

import (
	"fmt"
	"math"
	"time"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// notes says what the plan cannot do and what would.
func (p Plan) notes() (notes []string) {
	for _, note := range []func() string{
		p.lateNote, p.extraNote, p.capacityNote, p.roomNote, p.slowNote, p.birthNote, p.slotNote, p.aloneNote, p.nodeNote,
	} {
		if text := note(); text != "" {
			notes = append(notes, text)
		}
	}
	return notes
}

// lateNote is for keys that early refresh cannot help: a refresh begins with a
// read, so where reads are rare nobody is there to begin it.
func (p Plan) lateNote() string {
	s, r := p.Setup, p.Refresh
	if r.Late <= s.Late {
		return ""
	}
	lead, lambda := s.cost().Lead(), xfetch.Draw(s.Late)
	wait := xfetch.StaleFor(r.Law.Rate, 0, lead, lambda)
	life := xfetch.LifeFor(r.Law.Rate, r.Law.Scale, lead, lambda, 0)
	text := fmt.Sprintf("early refresh cannot keep this key in time. A refresh begins with a read, and %s reads come in the last quarter of a life of %s, of which a load may take %s; it would take %s more to be late only %s of the time.",
		number(r.Law.Rate*s.TTL.Seconds()/4), short(s.TTL), short(lead), number(lambda), percent(s.Late))
	text += fmt.Sprintf(" What will: StaleWhileRevalidate of %s (d + λ/r), so that who comes after expiry need not wait", short(wait))
	if life < 1000*s.TTL {
		text += fmt.Sprintf("; or a ttl of %s (4 t0) with the deadline rule", short(life))
	}
	if every := s.TTL - lead; every > 0 {
		text += fmt.Sprintf("; or Warm for keys you know to matter, every %s", short(every))
	}
	return text + "."
}

// extraNote tells which life would have room for the refresh.
func (p Plan) extraNote() string {
	s, r := p.Setup, p.Refresh
	if r.Extra <= s.Extra {
		return ""
	}
	text := fmt.Sprintf("early refresh costs %.3g %% more loads than one per life, and %.3g %% were allowed", 100*r.Extra, 100*s.Extra)
	share := 1 + s.Extra
	if lost := r.Gap - s.Delta; r.Loads < share && lost > 0 {
		life := lost.Seconds() * share / (share - r.Loads) / (1 - p.jitter()/2)
		text += fmt.Sprintf(": a refresh starts %s before expiry, which is that little of a ttl of %s", short(r.Gap), short(seconds(life)))
	}
	return text + "; or allow more late ones."
}

func (p Plan) capacityNote() string {
	s := p.Setup
	if p.Steady <= s.calls() {
		return ""
	}
	perTTL := p.Steady * s.TTL.Seconds() / float64(s.Keys)
	return fmt.Sprintf("%d keys cost %s loads per second, and the origin completes %s. What will: a ttl of %s or more (n N/C), fewer keys, or more origin.",
		s.Keys, number(p.Steady), number(s.calls()), short(xfetch.LeastTTL(s.Keys, perTTL, s.calls())))
}

// roomNote is for more refreshes than pass the gate, however lives are spread.
func (p Plan) roomNote() string {
	s := p.Setup
	if p.Jitter <= mostJitter {
		return ""
	}
	return fmt.Sprintf("refreshes may use three in ten of %d slots, which lets %s per second through, and no jitter spreads those of %d keys over a ttl of %s so that they need no more (beyond 0.67 it shortens lives by more than it spreads). The rest expire and are loaded while somebody waits. What will: a ttl of %s or more, quicker loads, or more origin.",
		p.slots(), number(p.Through), s.Keys, short(s.TTL), short(seconds(p.Jitter/mostJitter*s.TTL.Seconds())))
}

func (p Plan) slowNote() string {
	s := p.Setup
	lead := s.cost().Lead()
	if lead <= s.TTL/4 {
		return ""
	}
	return fmt.Sprintf("a load may take %s, more than a quarter of a life: values are old before they arrive. What will: a longer ttl, or loading less at a time.", short(lead))
}

// birthNote is for lives too short for the draws of so many readers.
func (p Plan) birthNote() string {
	r := p.Refresh
	share := 1 - r.Law.LateProbability(xfetch.MeanLife(p.Setup.TTL, p.jitter()))
	if share < 0.05 {
		return ""
	}
	return fmt.Sprintf("%s of entries are refreshed as soon as they are written, and the predictions do not hold. What will: a ttl above %s, s(ln rs + 3) before expiry being where the first of so many readers draws well.",
		percent(share), short(max(r.Aim.Shift, 0)+xfetch.Scale(r.Aim.Scale, math.Log(r.Law.ReadsPerScale())+3)))
}

// slotNote is for fleets whose every instance must have a slot.
func (p Plan) slotNote() string {
	if p.each() > 1 || p.slots() <= p.MaxLoads {
		return ""
	}
	return fmt.Sprintf("each of %d instances needs a slot, and so %d calls may run at once where %d would do; MaxLoadRate holds them to what the origin completes.",
		p.Setup.Instances, p.slots(), p.MaxLoads)
}

func (p Plan) aloneNote() string {
	s := p.Setup
	if s.shared() || s.Instances == 1 {
		return ""
	}
	return fmt.Sprintf("without a shared store each of %d instances loads every key for itself, and a key has %s readers per second in each; with one (-roundtrip 1ms) the origin would see 1/%d of the loads.",
		s.Instances, number(s.Rate/float64(s.Instances)), s.Instances)
}

func (p Plan) nodeNote() string {
	s := p.Setup
	switch {
	case !s.shared():
		return ""
	case p.Copies == 0:
		return fmt.Sprintf("the hottest key's node serves %s other reads per second, more than 0.6 of what it can take: move some elsewhere first.", number(s.Other))
	case p.Copies > 1:
		return fmt.Sprintf("copies in the instances for %s still let %s reads per second through (M/L1 TTL): hence %d copies on distinct nodes. A staleness of %s would do without.",
			short(p.L1TTL), number(p.Store), p.Copies, short(xfetch.L1TTL(s.Rate, s.Instances, xfetch.NodeShare*s.Node-s.Other)))
	case p.L1TTL > 0:
		return fmt.Sprintf("copies in the instances may be stale by %s more.", short(p.L1TTL))
	}
	return ""
}

func seconds(x float64) time.Duration {
	return time.Duration(max(min(x*1e9, math.MaxInt64/2), math.MinInt64/2))
}
