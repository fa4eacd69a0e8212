package fleet

import (
	"context"
	"time"
)

const (
	kill = "kill"
	stop = "stop"
)

// Outage is what became of a fleet, with earlybird's defaults, whose server went and
// came back.
type Outage struct {
	Kind       string   `json:"kind"`
	Parts      []Part   `json:"parts"`          // before, while it was gone, and after
	FirstAgain *float64 `json:"first_again_ms"` // until the tier answered a cache, since the server was back; null: it did not
	AllAgain   *float64 `json:"all_again_ms"`   // until it had answered each cache
	TierErrors int      `json:"tier_errors"`
}

// Part is a part of an outage.
type Part struct {
	Name           string  `json:"name"`
	Reads          int     `json:"reads"`
	Errors         int     `json:"errors"`
	Waited         int     `json:"waited"`
	Loads          int     `json:"loads"`
	LoadsPerSecond float64 `json:"loads_per_second"`
	BusiestSecond  int     `json:"busiest_second"` // loads
	MostAtOnce     int     `json:"most_at_once"`   // loads of all instances
	MostOneCache   int     `json:"most_at_once_in_one_cache"`
	Latency
	AddedP99   float64 `json:"added_p99_ms"` // beside before
	AddedMax   float64 `json:"added_max_ms"`
	LateP99    float64 `json:"late_p99_ms"`
	FirstError string  `json:"first_error,omitempty"`
}

func outageReads(s Setup) int { return int(s.Rate * (s.warmUp() + 3*s.Duration).Seconds()) }

// playOutage lets the server go and come back.
func playOutage(ctx context.Context, r *run, kind string) error {
	o := &Outage{Kind: kind}
	r.report.Outage = o
	return r.with(full, func(c *caches) error {
		warm := &stretch{lasts: r.setup.warmUp()}
		before := &stretch{lasts: r.setup.Duration}
		gone := &stretch{lasts: r.setup.Duration, first: func() error { return r.server.leave(kind) }}
		back := &stretch{lasts: r.setup.Duration}
		back.first = func() error { return o.watch(ctx, c, back, func() error { return r.server.comeBack(kind) }) }
		if err := c.play(ctx, r.setup, &r.played, warm, before, gone, back); err != nil {
			return err
		}
		o.add("before", c, before)
		o.add("gone", c, gone)
		o.add("back", c, back)
		o.TierErrors = c.tierErrors()
		return nil
	})
}

// leave ends a server of our own, or makes it silent.
func (s *server) leave(kind string) error {
	if kind == stop {
		return s.process.Stop()
	}
	s.process.Kill()
	return nil
}

func (s *server) comeBack(kind string) error {
	if kind == stop {
		return s.process.Continue()
	}
	return s.process.Restart()
}

// watch sees how long after the server's return the caches use it again, for as long
// as the stretch lasts.
func (o *Outage) watch(ctx context.Context, c *caches, back *stretch, comeBack func() error) error {
	had := c.answers()
	if err := comeBack(); err != nil {
		return err
	}
	began := c.origin.now()
	for now := began; now < back.to && o.AllAgain == nil; now = c.origin.now() {
		have, again := c.answers(), 0
		for i := range have {
			if have[i] > had[i] {
				again++
			}
		}
		since := milliseconds(now - began)
		if again > 0 && o.FirstAgain == nil {
			o.FirstAgain = &since
		}
		if again == len(have) {
			o.AllAgain = &since
		}
		if err := wait(ctx, 2*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// add adds a part that has been played.
func (o *Outage) add(name string, c *caches, x *stretch) {
	calls := c.origin.between(x.from, x.to)
	p := Part{
		Name: name, Reads: x.tally.reads, Errors: x.tally.errors, Waited: x.tally.waited, FirstError: x.tally.firstError(),
		Loads: len(calls), LoadsPerSecond: float64(len(calls)) / x.lasts.Seconds(), BusiestSecond: busiest(calls),
		MostAtOnce: mostAtOnce(calls, together), MostOneCache: mostAtOnce(calls, byInstance),
		Latency: x.tally.latency(), LateP99: x.tally.lateness().P99,
	}
	if len(o.Parts) > 0 {
		p.AddedP99, p.AddedMax = p.P99-o.Parts[0].P99, p.Max-o.Parts[0].Max
	}
	o.Parts = append(o.Parts, p)
}
