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
	guarded.Guard, guarded.Ghosts, guarded.Rows, guarded.Siblings = true, 8, 6, true

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

	nested := usual("nested")
	nested.MaxLoads, nested.Rows, nested.Nests = 2, 5, true
	nested.Reading, nested.OpsEach = 0.85, 80

	// So many keys that the queue would be full, were it not for the ramp.
	ramped := usual("ramped")
	ramped.Ramp, ramped.MaxLoads, ramped.Rows, ramped.Crowds = 2*time.Second, 4, 50, 45
	ramped.Beta, ramped.Reading, ramped.OpsEach = 2, 0.9, 40

	paced := usual("paced")
	paced.MaxLoadRate, paced.Rows, paced.Crowds = 20, 14, 10

	return []Profile{narrow, nested, ramped, paced}
}

func batches() []Profile {
	// Several keys at once, spelled this way and that.
	batches := usual("batches")
	batches.Batches, batches.Spells, batches.Clones = true, true, true
	batches.Rows, batches.Crowds, batches.MaxLoads, batches.Beta = 8, 6, 4, 2

	// Batches ask for batches, and meet themselves.
	tangled := usual("tangled")
	tangled.Batches, tangled.Nests, tangled.Spells, tangled.MaxLoads = true, true, true, 2
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
