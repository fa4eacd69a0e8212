package fleet

import (
	"context"
	"time"

	"github.com/earlybird-cache/earlybird"
)

// rung is a set of defences, on a fleet with all defaults otherwise.
type rung struct {
	name  string
	about string
	alone bool // without a shared tier
	set   func(o *options, so *storeOptions)
}

var (
	alone = rung{name: "no shared tier", about: "each cache by itself, with its defaults", alone: true}
	plain = rung{name: "TTL only", about: "a shared tier; whoever finds a value expired loads it", set: func(o *options, so *storeOptions) {
		o.Beta, so.SharedLeases = earlybird.Off, true
	}}
	leased = rung{name: "+ lease", about: "of those who find it expired one loads, and the others wait for him", set: func(o *options, _ *storeOptions) {
		o.Beta = earlybird.Off
	}}
	early = rung{name: "XFetch, no lease", about: "values are loaded anew before they expire, by whoever draws it", set: func(_ *options, so *storeOptions) {
		so.SharedLeases = true
	}}
	full = rung{name: "XFetch + lease", about: "by one of those who draw it: earlybird with its defaults"}
)

// rungs returns what is played, in order.
func (s Setup) rungs() []rung {
	all := []rung{alone, plain, leased, early, full}
	for _, near := range s.Near {
		about := "the same, and the tier is asked again about a value in memory after so long"
		if near < 0 {
			about = "the same, and every read asks the tier"
		}
		all = append(all, rung{
			name:  "  NearTTL " + nearText(near),
			about: about,
			set:   func(o *options, _ *storeOptions) { o.NearTTL = near },
		})
	}
	return all
}

// Row is what one rung did.
type Row struct {
	Name           string   `json:"name"`
	Reads          int      `json:"reads"`
	Errors         int      `json:"errors"`
	Loads          int      `json:"loads"`
	PerGeneration  float64  `json:"loads_per_generation"` // of a key, a generation being a TTL
	MostAtOnce     int      `json:"most_at_once"`         // loads of one key
	Published      int      `json:"published"`            // loads whose value the tier took, warming up included
	Waited         int      `json:"waited"`               // reads that waited for the origin
	Latency                 // of reads
	LateP99        float64  `json:"late_p99_ms"` // by how much the machine was late to begin reads; in their latency
	RoundTrips     int      `json:"round_trips"`
	TripsPerRead   float64  `json:"round_trips_per_read"`
	TierErrors     int      `json:"tier_errors"`
	ServerCommands commands `json:"server_commands"`
	FirstError     string   `json:"first_error,omitempty"`

	about string
}

// playRungs plays them all.
func playRungs(ctx context.Context, r *run) error {
	for _, x := range r.setup.rungs() {
		row, err := r.playRung(ctx, x)
		if err != nil {
			return err
		}
		r.report.Rungs = append(r.report.Rungs, row)
	}
	return nil
}

// playRung plays one rung, unwatched at first.
func (r *run) playRung(ctx context.Context, x rung) (row Row, err error) {
	var before commands
	warm := &stretch{lasts: r.setup.warmUp()}
	watched := &stretch{lasts: r.setup.Duration, first: func() (err error) {
		before, err = r.server.commands(ctx)
		return err
	}}
	err = r.with(x, func(c *caches) error {
		if err := c.play(ctx, r.setup, &r.played, warm, watched); err != nil {
			return err
		}
		after, err := r.server.commands(ctx)
		row = r.setup.row(x, c, watched, after.since(before))
		return err
	})
	return row, err
}

// warmUp is how long caches are left alone, until they are no longer in step with
// one another.
func (s Setup) warmUp() time.Duration { return max(s.TTL, 100*time.Millisecond) }

// rungReads is about how many reads playRungs plays.
func rungReads(s Setup) int {
	return len(s.rungs()) * int(s.Rate*(s.warmUp()+s.Duration).Seconds())
}

func (s Setup) row(x rung, c *caches, w *stretch, called commands) Row {
	calls := c.origin.between(w.from, w.to)
	return Row{
		Name: x.name, about: x.about, Reads: w.tally.reads, Errors: w.tally.errors, Waited: w.tally.waited,
		Loads: len(calls), MostAtOnce: mostAtOnce(calls, byKey), Published: c.published(),
		PerGeneration: float64(len(calls)) / float64(s.Keys) / (s.Duration.Seconds() / s.TTL.Seconds()),
		Latency:       w.tally.latency(), LateP99: w.tally.lateness().P99,
		RoundTrips: called.roundTrips(), TripsPerRead: float64(called.roundTrips()) / float64(max(1, w.tally.reads)),
		TierErrors: c.tierErrors(), ServerCommands: called,
		FirstError: w.tally.firstError(),
	}
}
