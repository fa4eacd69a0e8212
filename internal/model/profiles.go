package model

import (
	"time"

	"github.com/earlybird-cache/earlybird"
)

// The profiles, by what is in their focus.

func plain() []Profile {
	plain := usual("plain")

	// With one key no two keys can share a stripe of the fence, and the judge
	// is strict about overlapping loads.
	single := usual("single")
	single.Rows, single.Ghosts, single.Crowds = 1, 0, 1

	closing := usual("closing")
	closing.Closes, closing.OpsEach = true, 20

	return []Profile{plain, single, closing}
}

func early() []Profile {
	// Little changes, so values grow old; refreshes come early and often fail.
	calm := usual("calm")
	calm.Reading, calm.Beta, calm.Failing = 0.96, 2, 0.4
	calm.Rows, calm.Ghosts, calm.Clients, calm.OpsEach = 2, 1, 10, 100

	// Every draw is the same, so it is known when a refresh must be due.
	eager := usual("eager")
	eager.Jitter, eager.Draw, eager.Tame, eager.Reading = earlybird.Off, 1e-3, true, 0.9

	late := usual("late")
	late.Beta = earlybird.Off

	return []Profile{calm, eager, late}
}

func absences() []Profile {
	amnesic := usual("amnesic")
	amnesic.NegativeTTL = earlybird.Off

	guarded := usual("guarded")
	guarded.Guard, guarded.Ghosts, guarded.Rows, guarded.Siblings = true, 8, 12, true
	guarded.Founded = 0.3

	return []Profile{amnesic, guarded}
}

func rooms() []Profile {
	// Fewer entries than rows: values come and go.
	tight := usual("tight")
	tight.MaxEntries, tight.MaxNegatives, tight.Rows, tight.Ghosts = 3, 3, 9, 9

	// Values differ in weight, and some are heavier than all the room there is.
	weighed := usual("weighed")
	weighed.MaxBytes, weighed.Rows, weighed.Reading, weighed.TTL = 10, 7, 0.85, 2*time.Second

	// All rows fit, but a flood of ghosts does not: it must not wash them out.
	flood := usual("flood")
	flood.MaxEntries, flood.MaxNegatives, flood.Ghosts, flood.Crowds = 4, 16, 200, 40
	flood.OpsEach = 45

	return []Profile{tight, weighed, flood}
}

func gates() []Profile {
	narrow := usual("narrow")
	narrow.MaxLoads, narrow.Rows, narrow.Crowds = 1, 14, 12

	// So many keys that the queue would be full, were it not for the ramp.
	ramped := usual("ramped")
	ramped.Ramp, ramped.MaxLoads, ramped.Rows, ramped.Crowds = 2*time.Second, 4, 50, 45
	ramped.Beta, ramped.Reading, ramped.OpsEach = 2, 0.9, 40

	paced := usual("paced")
	paced.MaxLoadRate, paced.Rows, paced.Crowds = 20, 14, 10

	// Hits for long, and so refreshes, that must leave room for the few misses.
	behind := usual("behind")
	behind.MaxLoads, behind.Rows, behind.Ghosts, behind.Crowds = 3, 8, 0, 4
	behind.Tame, behind.TTL, behind.Beta, behind.Reading = true, 2*time.Second, 4, 0.97

	// Refreshes meet those who queue just when the gate has widened a little.
	widening := usual("widening")
	widening.Ramp, widening.MaxLoads, widening.Rows, widening.Ghosts, widening.Crowds = 20*time.Second, 12, 40, 0, 12
	widening.Beta, widening.Reading = 4, 0.97

	return []Profile{narrow, ramped, paced, behind, widening}
}

func nests() []Profile {
	nested := usual("nested")
	nested.MaxLoads, nested.Rows, nested.Nests = 2, 5, 0.25
	nested.Reading, nested.OpsEach = 0.85, 80

	// Few keys, all asked for at once, and most ask for one another.
	knotted := usual("knotted")
	knotted.MaxLoads, knotted.Rows, knotted.Ghosts, knotted.Crowds = 4, 4, 0, 4
	knotted.Nests, knotted.TTL = 0.6, 300*time.Millisecond

	return []Profile{nested, knotted}
}

func batches() []Profile {
	// Several keys at once, spelled this way and that.
	batches := usual("batches")
	batches.Batches, batches.Spells, batches.Clones = true, true, true
	batches.Rows, batches.Crowds, batches.MaxLoads, batches.Beta = 8, 6, 4, 2

	// Batches ask for batches, and meet themselves.
	tangled := usual("tangled")
	tangled.Batches, tangled.Nests, tangled.Spells, tangled.MaxLoads = true, 0.25, true, 2
	tangled.Rows, tangled.Crowds, tangled.Failing, tangled.Reading = 6, 5, 0.1, 0.85

	return []Profile{batches, tangled}
}

func spares() []Profile {
	// Values outlive their life, and stand in for loads that fail.
	stale := usual("stale")
	stale.StaleWhileRevalidate, stale.TTL, stale.Reading = 300*time.Millisecond, 300*time.Millisecond, 0.9

	spare := usual("spare")
	spare.StaleIfError, spare.TTL, spare.Reading, spare.Failing = time.Second, 200*time.Millisecond, 0.9, 0.5
	spare.Clones = true

	return []Profile{stale, spare}
}

func terms() []Profile {
	varied := usual("varied")
	varied.Varied, varied.Validates, varied.Reading = true, true, 0.9
	varied.StaleWhileRevalidate, varied.Beta, varied.Rows = 200*time.Millisecond, 2, 3

	renewing := usual("renewing")
	renewing.Revalidates, renewing.Clones, renewing.Reading = true, true, 0.9
	renewing.TTL, renewing.StaleWhileRevalidate = 300*time.Millisecond, 100*time.Millisecond

	timely := usual("timely")
	timely.Deadline, timely.Reading, timely.Rows = true, 0.95, 3

	return []Profile{varied, renewing, timely}
}

func clocks() []Profile {
	// So many hits, one after another, that the cache tells time by its ticker.
	busy := usual("busy")
	busy.Busy, busy.Clones, busy.Tame, busy.Rows, busy.Ghosts = true, true, true, 2, 0
	busy.Reading, busy.Clients = 0.97, 8

	return []Profile{busy}
}
