package earlybird

import (
	"bytes"
	"context"
	"iter"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/bloom"
)

func numbers(prefix string, n int) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for i := range n {
			if !yield(prefix+strconv.Itoa(i), nil) {
				return
			}
		}
	}
}

// A guard that was given a snapshot it cannot believe refuses nothing, and
// Stats show why: no row that exists is ever turned away.
func TestGuard_withASnapshotItCannotReadRefusesNothing(t *testing.T) {
	n := scaled(2000, 10_000)
	saved := snapshotOf(t, "products", n)
	for name, snapshot := range map[string][]byte{
		"another format":  changed(saved, 8),
		"another hash":    changed(saved, 12),
		"another seed":    changed(saved, 24),
		"another size":    changed(saved, 40),
		"more hashes":     changed(saved, 48),
		"a flipped bit":   changed(saved, len(saved)/2),
		"cut short":       saved[:len(saved)-1],
		"another's":       snapshotOf(t, "users", n),
		"nothing":         nil,
		"something else":  bytes.Repeat([]byte("x"), 1000),
		"one from itself": saved, // which it does believe
	} {
		t.Run(name, func(t *testing.T) {
			guard, err := bloom.New(bloom.Options{Name: "products"})
			require.NoError(t, err)
			_, err = guard.Load(t.Context(), bytes.NewReader(snapshot), nil)
			opts := plain[string](time.Hour)
			opts.Guard = guard
			c := newTidy(t, echo(0), opts)
			if name == "one from itself" {
				require.NoError(t, err)
				require.Equal(t, bloom.Ready, c.Stats().Guard.State)
			} else {
				require.Error(t, err)
				require.Equal(t, bloom.Unbuilt, c.Stats().Guard.State)
			}
			for i := range n {
				mustGet(t, c, "p"+strconv.Itoa(i))
			}
			require.Zero(t, c.Stats().Refused)
		})
	}
}

func snapshotOf(t *testing.T, name string, n int) []byte {
	t.Helper()
	g, err := bloom.New(bloom.Options{Name: name})
	require.NoError(t, err)
	require.NoError(t, g.Build(t.Context(), numbers("p", n)))
	var b bytes.Buffer
	_, err = g.WriteTo(&b)
	require.NoError(t, err)
	return b.Bytes()
}

// changed returns snapshot with one byte changed.
func changed(snapshot []byte, at int) []byte {
	s := bytes.Clone(snapshot)
	s[at] ^= 0x10
	return s
}

// Twenty times the ids that a guard was made for: it says that it is full and
// lets strangers through, whom absences and the gate hold back then. No id that
// was created is refused at any moment, and a build of the right size ends it.
func TestGuard_thatIsFullLeavesTheOriginToTheGateAndAbsences(t *testing.T) {
	planned, readers := scaled(500, 5000), 16
	const limit = 8
	guard, err := bloom.New(bloom.Options{Expected: planned, FalsePositiveRate: 0.01})
	require.NoError(t, err)
	require.NoError(t, guard.Build(t.Context(), numbers("old", planned/10)))

	var running, most, loads atomic.Int64
	opts := plain[string](time.Hour)
	opts.Guard, opts.MaxLoads, opts.NegativeTTL = guard, limit, time.Hour
	opts.MaxEntries, opts.MaxNegatives = 40*planned, 40*planned
	c := newTidy(t, func(_ context.Context, key string) (string, error) {
		loads.Add(1)
		most.Store(max(most.Load(), running.Add(1)))
		defer running.Add(-1)
		if key[0] == 's' {
			return "", ErrNotFound
		}
		return key, nil
	}, opts)
	createWhileRead(t, c, planned, readers)
	require.Equal(t, bloom.Saturated, c.Stats().Guard.State)
	require.Greater(t, c.Stats().Guard.EstimatedRate, 0.5)

	strangers := 20 * planned
	ask := func(prefix string) int64 {
		before := loads.Load()
		together(readers, func(r int) {
			for i := r; i < strangers; i += readers {
				if _, err := c.Get(context.Background(), prefix+strconv.Itoa(i)); err != ErrNotFound {
					t.Error(err)
				}
			}
		})
		return loads.Load() - before
	}
	require.EqualValues(t, strangers, ask("stranger"), "it fails open: each is asked for")
	c.negatives.Settle()
	require.LessOrEqual(t, ask("stranger"), int64(strangers/20), "once")
	require.LessOrEqual(t, most.Load(), int64(limit), "few at a time")

	require.NoError(t, guard.Build(t.Context(), numbers("new", 20*planned)))
	require.Equal(t, bloom.Ready, c.Stats().Guard.State)
	require.LessOrEqual(t, ask("soul"), int64(strangers/20), "it keeps them off again")
}

// createWhileRead creates twenty times what was planned for, while readers ask
// for ids from before and for new ones.
func createWhileRead(t *testing.T, c *Cache[string], planned, readers int) {
	var created atomic.Int64
	var over atomic.Bool
	var reading sync.WaitGroup
	for r := range readers {
		reading.Go(func() {
			for i := r; !over.Load(); i++ {
				key := "old" + strconv.Itoa(i%(planned/10))
				if n := created.Load(); i%2 == 0 && n > 0 {
					key = "new" + strconv.FormatInt(n-1-int64(i)%min(n, 100), 10)
				}
				if v, err := c.Get(context.Background(), key); v != key || err != nil {
					t.Errorf("%s: %q, %v", key, v, err)
					return
				}
			}
		})
	}
	for i := range 20 * planned {
		require.NoError(t, c.Created(t.Context(), "new"+strconv.Itoa(i)))
		created.Store(int64(i + 1))
	}
	over.Store(true)
	reading.Wait()
}
