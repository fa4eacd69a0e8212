package bloom

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A life is a guard to which own-0, own-1, … are added while other things
// happen to it.
type life struct {
	t     *testing.T
	g     *Guard
	added atomic.Int64
	stop  chan struct{}
	wg    sync.WaitGroup
}

func newLife(t *testing.T, opts Options) *life {
	return &life{t: t, g: built(t, opts, "product", 2_000), stop: make(chan struct{})}
}

// meanwhile repeats f until the life ends.
func (l *life) meanwhile(f func()) {
	l.wg.Go(func() {
		for {
			select {
			case <-l.stop:
				return
			default:
				f()
			}
		}
	})
}

// readers ask for ids already added, most of them new ones.
func (l *life) readers(n int) {
	seed := rand.Uint64()
	l.t.Logf("seed %d", seed)
	for r := range n {
		rng := rand.New(rand.NewPCG(seed, uint64(r)))
		l.meanwhile(func() {
			n := int(l.added.Load())
			if n == 0 {
				return
			}
			i := n - 1 - rng.IntN(min(n, 50))
			if rng.IntN(4) == 0 {
				i = rng.IntN(n)
			}
			if !l.g.MayContain(name("own", i)) {
				l.t.Errorf("refused own-%d of %d", i, n)
			}
		})
	}
}

func (l *life) add(n int) {
	for range n {
		i := int(l.added.Load())
		l.g.Add(name("own", i))
		l.added.Store(int64(i + 1))
	}
}

// end checks that nothing was lost, and that the guard was not simply open.
func (l *life) end() {
	close(l.stop)
	l.wg.Wait()
	require.Zero(l.t, refusals(l.g, "own", int(l.added.Load())))
	require.Zero(l.t, refusals(l.g, "product", 2_000))
	require.Equal(l.t, Ready, l.g.Stats().State)
	require.NotZero(l.t, l.g.Stats().Refused+uint64(refusals(l.g, "stranger", 1_000)))
}

// ok reports an error other than that two builds met.
func (l *life) ok(what string, err error) bool {
	if err != nil && !errors.Is(err, ErrBuilding) {
		l.t.Errorf("%s: %v", what, err)
	}
	return err == nil
}

// Adds, reads, builds, saves and loads of one guard at once: what was added is
// never refused, and every snapshot has what was added before it was begun.
func TestGuard_wholeLifeAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "guard")
	l := newLife(t, Options{Expected: 60_000, Grace: time.Millisecond})
	require.NoError(t, l.g.SaveFile(path))
	l.readers(2)
	l.meanwhile(func() { l.ok("build", l.g.Build(context.Background(), numbered("product", 2_000))) })
	l.meanwhile(func() {
		_, err := l.g.LoadFile(context.Background(), path, nil)
		l.ok("load", err)
	})
	l.meanwhile(func() {
		n := int(l.added.Load())
		if !l.ok("save", l.g.SaveFile(path)) {
			return
		}
		other := newGuard(t, Options{})
		if _, err := other.LoadFile(context.Background(), path, nil); l.ok("load elsewhere", err) {
			if lost := refusals(other, "own", n); lost > 0 {
				t.Errorf("a snapshot lacks %d of the %d ids added before it", lost, n)
			}
		}
	})
	l.add(20_000)
	l.end()
}

// A hundred thousand ids are added while one rebuild reads its source, which
// lists none of them.
func TestBuild_losesNoAddOfAHundredThousand(t *testing.T) {
	l := newLife(t, Options{Expected: 110_000, Grace: -1})
	l.readers(1)
	require.NoError(t, l.g.Build(t.Context(), func(yield func(string, error) bool) {
		for i := range 2_000 {
			l.add(50)
			yield(name("product", i), nil)
		}
	}))
	require.EqualValues(t, 100_000, l.added.Load())
	l.end()
}
