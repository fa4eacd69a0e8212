package hotkeys

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ledger is the truth: every key's reads, halved at the end of each window,
// with no bound on memory.
type ledger struct {
	window int64
	reads  map[string]float64
}

func (l *ledger) catchUp(window int64) {
	for key := range l.reads {
		l.reads[key] *= math.Ldexp(1, -int(window-l.window))
	}
	l.window = window
}

// trial plays one run of operations on a tracker that samples every read, and
// on the ledger. It has one stripe and more keys than counters.
type trial struct {
	clock   *hands
	elapsed time.Duration
	tracker *Tracker
	truth   ledger
}

func newTrial(t testing.TB) *trial {
	clock := newHands()
	return &trial{
		clock:   clock,
		tracker: newTracker(t, all(ways, clock.now)),
		truth:   ledger{reads: map[string]float64{}},
	}
}

// play takes one byte for one operation: a read of one of 240 keys, those with
// small numbers often, or some time that passes.
func (tr *trial) play(op byte) {
	if op >= 240 {
		d := time.Duration(op-239) * 170 * time.Millisecond
		tr.clock.advance(d)
		tr.elapsed += d
		return
	}
	tr.truth.catchUp(int64(tr.elapsed / time.Second))
	key, weight := fmt.Sprint("key-", op), uint64(op%5+1)
	tr.truth.reads[key] += float64(weight)
	tr.tracker.Sample(key, weight)
}

// check compares what is listed with the truth. Both round alike, so that the
// bounds must hold to the last bit.
func (tr *trial) check() error {
	tr.truth.catchUp(int64(tr.elapsed / time.Second))
	span := (time.Second + tr.elapsed%time.Second).Seconds()
	floor := tr.tracker.Stats().Floor
	listed := map[string]bool{}
	for _, k := range tr.tracker.Top(math.MaxInt) {
		listed[k.Key] = true
		rate := tr.truth.reads[k.Key] / span
		if !(k.Lower <= rate && rate <= k.Upper && k.Lower <= k.Rate && k.Rate <= k.Upper) {
			return fmt.Errorf("%s is read %v times a second, the bounds are %v and %v, the guess %v",
				k.Key, rate, k.Lower, k.Upper, k.Rate)
		}
	}
	var total float64
	for key, n := range tr.truth.reads {
		total += n
		if n/span > floor && n > 1 && !listed[key] {
			return fmt.Errorf("%s is read %v times a second, more than %v, but not listed", key, n/span, floor)
		}
	}
	if most := total / span / ways; floor > most*(1+1e-9) {
		return fmt.Errorf("floor %v is above a %dth of all reads, %v", floor, ways, most)
	}
	return nil
}

func TestTracker_boundsHoldTheTruth(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 50 {
		tr := newTrial(t)
		for range 1000 {
			op := byte(r.UintN(256))
			if r.UintN(2) == 0 {
				op %= 12 // some keys are read much more than others
			}
			tr.play(op)
			if r.UintN(50) == 0 {
				require.NoError(t, tr.check())
			}
		}
		require.NoError(t, tr.check())
	}
}

func FuzzTracker_bounds(f *testing.F) {
	f.Add([]byte{1, 1, 1, 255, 2, 255, 255, 1})
	f.Add([]byte("the quick brown fox jumps over the lazy dog, and back again, 0123456789"))
	f.Fuzz(func(t *testing.T, ops []byte) {
		tr := newTrial(t)
		for _, op := range ops {
			tr.play(op)
		}
		if err := tr.check(); err != nil {
			t.Fatal(err)
		}
	})
}

// A trial that cannot fail proves nothing: each way of getting Space-Saving
// wrong must be noticed.
func TestTrial_noticesWrongCounting(t *testing.T) {
	wrong := map[string]func(s *stripe){
		"forgets what a counter held before": func(s *stripe) {
			i := s.smallest()
			s.atMost[i] = 0
		},
		"takes inherited counts for certain": func(s *stripe) {
			for i := range s.rest {
				s.rest[i].atLeast = s.atMost[i]
			}
		},
		"halves the upper bound twice": func(s *stripe) {
			for i := range s.atMost {
				s.atMost[i] /= 2
			}
		},
		"does not halve what is certain": func(s *stripe) {
			for i := range s.rest {
				s.rest[i].atLeast *= 2
			}
		},
	}
	for name, spoil := range wrong {
		t.Run(name, func(t *testing.T) {
			noticed := false
			for seed := uint64(0); seed < 100 && !noticed; seed++ {
				r := rand.New(rand.NewPCG(seed, 1))
				tr := newTrial(t)
				for range 1000 {
					tr.play(byte(r.UintN(240)))
				}
				require.NoError(t, tr.check())
				spoil(&tr.tracker.stripes[0])
				for range 20 {
					tr.play(byte(r.UintN(240)))
				}
				noticed = tr.check() != nil
			}
			require.True(t, noticed)
		})
	}
}
