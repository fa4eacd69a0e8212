package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/hotkeys"
	"github.com/earlybird-cache/earlybird/sim/workload"
)

// HotRow is what became of a key that most reads are of. The masters are looked at
// while nothing changes, and how soon changes are seen in a stretch of its own.
type HotRow struct {
	Name       string   `json:"name"`
	Reads      int      `json:"reads"` // while nothing changed
	Errors     int      `json:"errors"`
	Masters    []Master `json:"masters"`          // the busiest first
	Busiest    float64  `json:"busiest_share"`    // of all questions
	HotReads   int      `json:"hot_reads"`        // those of the hot key
	InProcess  float64  `json:"in_process_share"` // of these: they asked no server
	Latency             // of the reads
	LateP99    float64  `json:"late_p99_ms"` // the machine's part in that
	HotIn      int      `json:"hot_in"`      // caches that found the key hot
	HotAfter   *float64 `json:"hot_after_ms"`
	Flaps      int      `json:"state_changes"` // after that, in all caches
	Changes    int      `json:"changes"`       // of the key at the origin, each with an Invalidate
	Stale      Latency  `json:"stale"`         // for how long after one a cache served what was before
	TierErrors int      `json:"tier_errors"`
	FirstError string   `json:"first_error,omitempty"`

	about string
}

// Master is what a master was asked in a second.
type Master struct {
	Addr      string  `json:"addr"`
	Questions float64 `json:"questions_per_s"`
	Commands  float64 `json:"commands_per_s"` // all that it executed

	calls commands
}

const (
	hotShare    = 0.9 // of the reads are of one key
	bystanders  = 100 // keys have the rest
	hotTTL      = time.Minute
	changeEvery = 250 * time.Millisecond
	copies      = 3
)

// hotRungs are ways to live with a hot key. NearTTL is off unless named.
func (s Setup) hotRungs() []rung {
	perCache := hotShare * s.Rate / float64(s.Instances)
	hot := func(rule hotkeys.Rule) func(o *options, _ *storeOptions) {
		return func(o *options, _ *storeOptions) {
			o.TTL, o.NearTTL, o.Instances, o.Hot = hotTTL, earlybird.Off, s.Instances, rule
			o.HotKeys, _ = hotkeys.New(hotkeys.Options{Threshold: perCache / 2})
		}
	}
	cold := hotkeys.Rule{Hysteresis: hotkeys.Hysteresis{Threshold: earlybird.Off}}
	return []rung{
		{name: "nothing", about: "every read asks the tier: NearTTL off, hot keys off", set: hot(cold)},
		{name: "NearTTL 1s", about: "what the tier said is believed for 1s, and no change is heard of; hot keys off", set: func(o *options, so *storeOptions) {
			hot(cold)(o, so)
			o.NearTTL = time.Second
		}},
		{name: "promotion", about: "hot keys alone are kept in memory, and the tier tells of their changes", set: hot(hotkeys.Rule{ServerReads: earlybird.Off})},
		{name: split, about: "hot keys are kept in 3 copies in the tier, and nothing in memory", set: hot(hotkeys.Rule{
			Life: earlybird.Off, ServerReads: hotShare * s.Rate / (copies + 1), MaxCopies: copies,
		})},
	}
}

const split = "split in 3 copies"

// findingTime is how long the caches have to find out which key is hot: three windows
// of a tracker, if the rest lasts long enough to be worth it.
func (s Setup) findingTime() time.Duration { return min(3*time.Second, 3*s.Duration) }

// hotKey is the key that most reads are of.
func (s Setup) hotKey() string { return workload.Catalogue(1+bystanders, s.Seed).Keys()[0] }

func hotReads(s Setup) int {
	return len(s.hotRungs()) * int(s.Rate*(s.findingTime()+2*s.Duration).Seconds())
}

func playHot(ctx context.Context, r *run) error {
	if nodes, err := r.server.byMaster(ctx); err != nil || len(nodes) < 2 {
		return cmp.Or(err, errors.New("-hot needs a Cluster, and "+r.server.about+" is one server"))
	}
	for _, x := range r.setup.hotRungs() {
		row, err := r.playHotRung(ctx, x)
		if err != nil {
			return err
		}
		r.report.Hot = append(r.report.Hot, row)
	}
	return nil
}

func (r *run) playHotRung(ctx context.Context, x rung) (row HotRow, err error) {
	s := r.setup
	s.crowded = true
	err = r.with(x, func(c *caches) error {
		h := &hotPlay{run: r, caches: c, key: s.hotKey()}
		c.saw = h.changes.saw
		finding, steady, changing := &stretch{lasts: s.findingTime()}, &stretch{lasts: s.Duration, first: h.look}, &stretch{lasts: s.Duration}
		changing.first = func() error { return h.change(ctx, changing) }
		end := make(chan struct{})
		var watch errgroup.Group
		watch.Go(func() error { h.states.watch(c, h.key, end); return nil })
		err := c.play(ctx, s, &r.played, finding, steady, changing)
		close(end)
		_ = watch.Wait()
		row = h.row(x, steady)
		return err
	})
	return row, err
}

// hotPlay is one rung being played.
type hotPlay struct {
	run     *run
	caches  *caches
	key     string
	before  map[string]commands // of the masters, when nothing changed yet
	after   map[string]commands
	changes changes
	states  states
}

// look looks at the masters as the stretch without changes begins.
func (h *hotPlay) look() (err error) {
	h.before, err = h.run.server.byMaster(context.Background())
	return err
}

// change looks again, and then changes the hot key now and then for as long as the
// stretch lasts.
func (h *hotPlay) change(ctx context.Context, x *stretch) (err error) {
	if h.after, err = h.run.server.byMaster(ctx); err != nil {
		return err
	}
	origin := h.caches.origin
	for n := 1; origin.now()+changeEvery < x.to; n++ {
		origin.version.Add(1)
		if err := h.caches.cache[n%len(h.caches.cache)].Invalidate(ctx, h.key); err != nil {
			return fmt.Errorf("a change of the hot key: %w", err)
		}
		h.changes.returned(origin.now())
		if err := wait(ctx, changeEvery); err != nil {
			return err
		}
	}
	return nil
}

func (h *hotPlay) row(x rung, steady *stretch) HotRow {
	t := &steady.tally
	row := HotRow{
		Name: x.name, about: x.about, Reads: t.reads, Errors: t.errors, FirstError: t.firstError(),
		Latency: t.latency(), LateP99: t.lateness().P99, TierErrors: h.caches.tierErrors(),
		HotIn: h.states.hot, HotAfter: h.states.after, Flaps: h.states.flaps,
		Changes: h.changes.count(), Stale: latencyOf(h.changes.stale(h.key, len(h.caches.cache))),
	}
	questions := 0
	for addr, now := range h.after {
		called := now.since(h.before[addr])
		asked := called["mget"] + called["get"] // one of them in a question for a base, the other in one for a copy
		questions += asked
		row.Masters = append(row.Masters, Master{
			Addr: addr, Questions: perSecond(asked, steady), Commands: perSecond(called.all(), steady), calls: called,
		})
	}
	slices.SortFunc(row.Masters, func(a, b Master) int { return cmp.Compare(b.Questions, a.Questions) })
	if questions > 0 {
		row.Busiest = row.Masters[0].Questions * steady.lasts.Seconds() / float64(questions)
	}
	row.HotReads = h.changes.readsOf(h.key, steady)
	if row.HotReads > 0 { // each of the others is one question
		row.InProcess = max(0, 1-float64(questions-(t.reads-row.HotReads))/float64(row.HotReads))
	}
	return row
}

func perSecond(n int, x *stretch) float64 { return float64(n) / x.lasts.Seconds() }

// states are what the caches say of the hot key.
type states struct {
	hot   int // of them have found it hot
	after *float64
	flaps int
}

// watch asks the caches until end is closed.
func (s *states) watch(c *caches, key string, end <-chan struct{}) {
	began := c.origin.now()
	was := make([]hotkeys.State, len(c.cache))
	for tick := time.NewTicker(20 * time.Millisecond); ; {
		select {
		case <-end:
			tick.Stop()
			return
		case <-tick.C:
		}
		for i, x := range c.cache {
			is := stateOf(x.Hot(), key)
			switch {
			case is == was[i]:
				continue
			case was[i] == hotkeys.Cold && s.hot < len(was) && s.after == nil:
				s.hot++
			default:
				s.flaps++
			}
			was[i] = is
		}
		if s.hot == len(was) && s.after == nil {
			ms := milliseconds(c.origin.now() - began)
			s.after = &ms
		}
	}
}

func stateOf(hot []earlybird.HotKey, key string) hotkeys.State {
	for _, k := range hot {
		if k.Key == key {
			return k.State
		}
	}
	return hotkeys.Cold
}
