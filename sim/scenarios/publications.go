package scenarios

import (
	"fmt"
	"math"
	"time"

	"github.com/earlybird-cache/earlybird/sim/estimate"
	"github.com/earlybird-cache/earlybird/xfetch"
)

// What others have measured.
var publications = []Scenario{
	{"goodreads-2015", "A week of Goodreads",
		"The paper that introduced XFetch replays a week of requests for a book at Goodreads, with loads of 10 s: at beta 1 most stampedes are of one or two loads and none above eight, at beta 1.5 their mean is below two. The trace is not public; a range of read rates is played, an hour's life each, a week long.",
		playGoodreads},
	{"internet-archive-2017", "A test bench of the Internet Archive",
		"50 workers sleep between 10 ms and 1 s and read, with a life of 20 s, loads of half a second and a clock of whole seconds; told at RedisConf 2017. Workers who load do not read, so that a crowd is smaller than the reads that would have come.",
		playArchive},
}

func playGoodreads(st *stage) ([]Row, error) {
	const paper = "Vattani et al., PVLDB 8(8), 2015"
	var rows []Row
	for _, rate := range []float64{0.03, 0.1, 1} {
		s := key(rate, 1)
		s.Delta, s.TTL = 10*second, 60*minute
		s.Expiries = 500_000
		r, err := st.refresh(s)
		if err != nil {
			return nil, err
		}
		of := fmt.Sprintf(", %g reads/s", rate)
		rows = append(rows,
			closed("loads per expiry, beta 1"+of, r.Thinned.Loads).shownBy(s.Command()),
			bounded("share of one or two loads, beta 1"+of, AtLeast, 0.5, upTo(r.Thinned.Sizes, 2)).
				published("most are 1 or 2: "+paper).shownBy(s.Command()))
		week := math.Pow(upTo(r.Thinned.Sizes, 8), 7*24) // one expiry an hour
		if rate < 1 {
			rows = append(rows, bounded("chance that none of a week has more than eight"+of, AtLeast, 0.05, week).
				published("none above 8: "+paper).shownBy(s.Command()))
		}
		s.Beta = 1.5
		if r, err = st.refresh(s); err != nil {
			return nil, err
		}
		rows = append(rows,
			closed("loads per expiry, beta 1.5"+of, r.Thinned.Loads).shownBy(s.Command()),
			bounded("loads per expiry, beta 1.5"+of, AtMost, 2, r.Thinned.Loads.Observed).
				published("mean below 2: "+paper).shownBy(s.Command()))
	}
	return rows, nil
}

// upTo is the share of expiries with at most k loads.
func upTo(sizes []int, k int) float64 {
	few, all := 0, 0
	for i, n := range sizes {
		if all += n; i < k {
			few += n
		}
	}
	return float64(few) / float64(all)
}

func playArchive(st *stage) ([]Row, error) {
	const talk = "RedisConf 2017: "
	var rows []Row
	for _, c := range []struct {
		name          string
		early, locked bool
		loads, cycles float64
		theirs        string
	}{
		{"plain", false, false, 484, 13, "484 in 13 cycles"},
		{"XFetch", true, false, 52, 24, "52 in 24 cycles"},
		{"locked", false, true, 1, 1, "1.00"},
	} {
		got := newArchive(st, c.early, c.locked).play(st.times(4000))
		// Theirs was a run as short as it says: its error is that of as many of ours.
		theirs := estimate.Estimate{Observed: c.loads / c.cycles, StdErr: got.StdErr() * math.Sqrt(float64(got.N)/c.cycles)}
		row := compared("recomputes per cycle, "+c.name, Measurement, theirs, got.Alone())
		if c.locked {
			row = counted("recomputes per cycle, "+c.name, 1, int(math.Ceil(got.Mean())))
		}
		rows = append(rows, row.published(talk+c.theirs))
	}
	return rows, nil
}

// archive is 50 workers in a closed loop around one key. Times are in seconds.
type archive struct {
	st            *stage
	early, locked bool

	workers [50]worker
	written float64 // when the entry was last written
	running int     // recomputes
	ended   bool    // the entry was written since the last cycle was counted
}

// worker is asleep until its time has come, and then reads, or writes what it
// has recomputed.
type worker struct {
	at      float64
	loading bool
}

const (
	archiveTTL   = 20.0
	archiveDelta = 0.5
)

func newArchive(st *stage, early, locked bool) *archive {
	a := &archive{st: st, early: early, locked: locked}
	for i := range a.workers {
		a.workers[i].at = a.nap()
	}
	return a
}

func (a *archive) nap() float64 { return 0.01 + 0.99*a.st.rng.Float64() }

// play counts the recomputes of each cycle. A cycle begins with a recompute after
// all of those before have been written.
func (a *archive) play(cycles int) (loads estimate.Sample) {
	n := 0
	for loads.N < cycles {
		w := a.next()
		switch {
		case w.loading:
			a.running--
			a.written, a.ended = w.at, true
			w.loading = false
			w.at += a.nap()
		case a.due(w.at) && !(a.locked && a.running > 0):
			if a.ended && a.running == 0 {
				loads.Add(float64(n))
				n, a.ended = 0, false
			}
			n++
			a.running++
			w.loading = true
			w.at += archiveDelta
		default:
			w.at += a.nap()
		}
	}
	return loads
}

// next is the worker who acts next: fifty are few enough to look at all.
func (a *archive) next() *worker {
	first := &a.workers[0]
	for i := range a.workers {
		if a.workers[i].at < first.at {
			first = &a.workers[i]
		}
	}
	return first
}

// due: the store forgets the entry when its life is over, to the millisecond. The
// draw sees whole seconds, of the present as of the expiry that the entry carries.
func (a *archive) due(now float64) bool {
	if now >= a.written+archiveTTL {
		return true
	}
	if !a.early {
		return false
	}
	left := math.Floor(a.written) + archiveTTL - math.Floor(now)
	return xfetch.Due(seconds(left), seconds(archiveDelta), a.st.rng.Float64())
}

// seconds is a duration.
func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(second))) }
