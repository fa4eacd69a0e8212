package earlybird

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/keyshape"
)

// counted is an origin that counts the calls and answers with their number.
func counted(n *atomic.Int64) Loader[int64] {
	return func(context.Context, string) (int64, error) { return n.Add(1), nil }
}

func TestGet_loadsOnceAndServesFromMemoryUntilExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loads atomic.Int64
		c := newTidy(t, counted(&loads), plain[int64](time.Minute))
		require.EqualValues(t, 1, mustGet(t, c, "k"))

		time.Sleep(time.Minute - 1)
		require.EqualValues(t, 1, mustGet(t, c, "k"), "a value lives for TTL")
		time.Sleep(1)
		require.EqualValues(t, 2, mustGet(t, c, "k"), "and not a nanosecond longer")
		require.EqualValues(t, 2, loads.Load())
	})
}

func TestGet_hitsAreServedThoughTheContextHasEnded(t *testing.T) {
	c := newTidy(t, echo(0), plain[string](time.Minute))
	mustGet(t, c, "k")

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	v, err := c.Get(ended, "k")
	require.NoError(t, err)
	require.Equal(t, "k", v)
}

func TestLookup_saysWhereTheValueComesFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTidy(t, echo(time.Second), eager[string](time.Minute))
		joined := make(chan Result[string], 1)
		go func() {
			time.Sleep(time.Second / 2)
			r, _ := c.Lookup(t.Context(), "k")
			joined <- r
		}()
		require.Equal(t, Result[string]{"k", Loaded, 0}, mustLookup(t, c, "k"))
		require.Equal(t, Result[string]{"k", Joined, 0}, <-joined)

		time.Sleep(10 * time.Second)
		require.Equal(t, Result[string]{"k", Fresh, 10 * time.Second}, mustLookup(t, c, "k"))
		time.Sleep(20 * time.Second) // the window of a one-second load opens at 36.7 s left
		require.Equal(t, Result[string]{"k", Early, 30 * time.Second}, mustLookup(t, c, "k"))
		require.Equal(t, Result[string]{"k", Fresh, 30 * time.Second}, mustLookup(t, c, "k"), "somebody refreshes it already")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, Result[string]{"k", Fresh, 0}, mustLookup(t, c, "k"), "the refresh has landed")
	})
}

func TestPeek_neverLoadsNeverElectsAndIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loads atomic.Int64
		c := newTidy(t, func(context.Context, string) (int64, error) {
			time.Sleep(time.Second)
			return loads.Add(1), nil
		}, eager[int64](time.Minute))
		_, ok := c.Peek("k")
		require.False(t, ok)
		mustGet(t, c, "k")
		before := c.Stats()

		time.Sleep(time.Minute - 1) // deep in the window, where any read is elected
		r, ok := c.Peek("k")
		require.True(t, ok)
		require.Equal(t, Result[int64]{1, Fresh, time.Minute - 1}, r)
		time.Sleep(1)
		_, ok = c.Peek("k")
		require.False(t, ok, "it has expired")

		synctest.Wait()
		require.EqualValues(t, 1, loads.Load())
		require.Equal(t, before, c.Stats())
	})
}

func TestSet_isAsIfJustLoaded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTidy(t, func(context.Context, string) (string, error) { return "loaded", nil }, plain[string](time.Minute))
		require.NoError(t, c.Set(t.Context(), "k", "first"))
		require.Equal(t, "first", mustGet(t, c, "k"), "no load")

		time.Sleep(40 * time.Second)
		require.NoError(t, c.Set(t.Context(), "k", "second"))
		time.Sleep(time.Minute - 1)
		require.Equal(t, Result[string]{"second", Fresh, time.Minute - 1}, mustLookup(t, c, "k"), "its life began anew")
		time.Sleep(1)
		require.Equal(t, "loaded", mustGet(t, c, "k"))
	})
}

func TestSet_endsARememberedAbsenceAndTeachesTheGuard(t *testing.T) {
	ctx := t.Context()
	guard := guardOf(t, "old")
	c := newTidy(t, func(context.Context, string) (string, error) { return "", ErrNotFound },
		Options[string]{TTL: time.Minute, Guard: guard})
	_, err := c.Get(ctx, "new")
	require.ErrorIs(t, err, ErrNotFound)
	_, err = c.Get(ctx, "old")
	require.ErrorIs(t, err, ErrNotFound)
	require.Equal(t, 1, c.Stats().Negatives)

	require.NoError(t, c.Set(ctx, "new", "n"))
	require.NoError(t, c.Set(ctx, "old", "o"))
	require.Equal(t, "n", mustGet(t, c, "new"))
	require.Equal(t, "o", mustGet(t, c, "old"))
	require.True(t, guard.MayContain("new"))
	require.Zero(t, c.Stats().Negatives)

	require.NoError(t, c.Invalidate(ctx, "new"))
	_, err = c.Get(ctx, "new")
	require.ErrorIs(t, err, ErrNotFound, "the origin says so")
	require.EqualValues(t, 2, c.Stats().Loads, "the guard let the key through")
}

func TestSet_refusesWhatGetWouldRefuse(t *testing.T) {
	opts := plain[string](time.Minute)
	opts.Shapes = keyshape.MustCompile("user:{uint}")
	opts.MaxKeyLen = 10
	c := newTidy(t, echo(0), opts)
	for _, key := range []string{"", "user:", "user:07", "user:-1", "user:123456"} {
		require.ErrorIs(t, c.Set(t.Context(), key, "v"), ErrMalformedKey, key)
		_, err := c.Get(t.Context(), key)
		require.ErrorIs(t, err, ErrMalformedKey, key)
		_, ok := c.Peek(key)
		require.False(t, ok, key)
	}
	require.Equal(t, "user:12345", mustGet(t, c, "user:12345"))
	require.EqualValues(t, 1, c.Stats().Loads)
}

func TestMaxKeyLen_countsBytes(t *testing.T) {
	c := newTidy(t, echo(0), plain[string](time.Minute))
	for key, want := range map[string]error{
		"":                            nil,
		strings.Repeat("x", 1024):     nil,
		strings.Repeat("x", 1025):     ErrMalformedKey,
		strings.Repeat("é", 512):      nil,
		strings.Repeat("é", 513):      ErrMalformedKey,
		strings.Repeat("\xff\x00", 9): nil,
	} {
		_, err := c.Get(t.Context(), key)
		require.ErrorIs(t, err, want, "%d bytes", len(key))
	}

	unbounded := plain[string](time.Minute)
	unbounded.MaxKeyLen = Off
	long := strings.Repeat("x", 1<<20)
	require.Equal(t, long, mustGet(t, newTidy(t, echo(0), unbounded), long))
}

func TestInvalidate_forgetsValuesAndAbsencesOfItsKeysOnly(t *testing.T) {
	var loads atomic.Int64
	c := newTidy(t, func(_ context.Context, key string) (int64, error) {
		if key == "gone" {
			loads.Add(1)
			return 0, ErrNotFound
		}
		return loads.Add(1), nil
	}, plain[int64](time.Minute))
	read := func() (vs [3]int64) {
		for i, key := range []string{"a", "b", "c"} {
			vs[i] = mustGet(t, c, key)
		}
		_, err := c.Get(t.Context(), "gone")
		require.ErrorIs(t, err, ErrNotFound)
		return vs
	}
	require.Equal(t, [3]int64{1, 2, 3}, read())
	require.Equal(t, [3]int64{1, 2, 3}, read())
	require.EqualValues(t, 4, loads.Load())

	require.NoError(t, c.Invalidate(t.Context()), "no key is no change")
	require.NoError(t, c.Invalidate(t.Context(), "a", "never read", "c", "gone"))
	require.Equal(t, [3]int64{5, 2, 6}, read())
	require.EqualValues(t, 7, loads.Load())
}

func TestInvalidateAll_forgetsEverythingButTheGuard(t *testing.T) {
	var loads atomic.Int64
	opts := plain[int64](time.Minute)
	opts.Guard = guardOf(t, "a", "b")
	c := newTidy(t, counted(&loads), opts)
	mustGet(t, c, "a")
	mustGet(t, c, "b")

	require.NoError(t, c.InvalidateAll(t.Context()))
	_, ok := c.Peek("a")
	require.False(t, ok)
	require.Zero(t, c.Stats().Values, "the memory is given back")
	require.EqualValues(t, 3, mustGet(t, c, "b"))
	require.EqualValues(t, 4, mustGet(t, c, "a"))
	_, err := c.Get(t.Context(), "stranger")
	require.ErrorIs(t, err, ErrNotFound)
	require.EqualValues(t, 4, loads.Load())
}

// guardOf returns a guard that has been built of ids.
func guardOf(t *testing.T, ids ...string) *bloom.Guard {
	t.Helper()
	g, err := bloom.New(bloom.Options{FalsePositiveRate: 1e-6})
	require.NoError(t, err)
	require.NoError(t, g.Build(t.Context(), func(yield func(string, error) bool) {
		for _, id := range ids {
			if !yield(id, nil) {
				return
			}
		}
	}))
	return g
}

func TestCreated_makesNewIdsReachable(t *testing.T) {
	rows := map[string]string{"old": "o"}
	c := newTidy(t, func(_ context.Context, key string) (string, error) {
		v, ok := rows[key]
		if !ok {
			return "", ErrNotFound
		}
		return v, nil
	}, Options[string]{TTL: time.Minute, Guard: guardOf(t, "old", "deleted")})
	for _, key := range []string{"new", "deleted"} { // refused, and absent at the origin
		_, err := c.Get(t.Context(), key)
		require.ErrorIs(t, err, ErrNotFound)
	}
	require.Equal(t, "o", mustGet(t, c, "old"))

	rows["new"], rows["deleted"] = "n", "back"
	require.NoError(t, c.Created(t.Context(), "new", "deleted", "old"))
	require.Equal(t, "n", mustGet(t, c, "new"))
	require.Equal(t, "back", mustGet(t, c, "deleted"))
	require.Equal(t, Fresh, mustLookup(t, c, "old").State, "values are kept")
}

func TestCreating_isCreatedBeforeAndAfterTheCommit(t *testing.T) {
	failure := errors.New("commit failed")
	for name, result := range map[string]error{"committed": nil, "failed": failure} {
		t.Run(name, func(t *testing.T) {
			exists := false
			c := newTidy(t, func(_ context.Context, key string) (string, error) {
				if !exists {
					return "", ErrNotFound
				}
				return key, nil
			}, Options[string]{TTL: time.Minute, Guard: guardOf(t, "old")})

			err := c.Creating(t.Context(), []string{"new"}, func() error {
				_, err := c.Get(t.Context(), "new")
				require.ErrorIs(t, err, ErrNotFound)
				require.EqualValues(t, 1, c.Stats().Loads, "by now the guard lets it through to the origin")
				require.Equal(t, 1, c.Stats().Negatives, "which remembers an absence that is about to be wrong")
				exists = true
				return result
			})
			require.ErrorIs(t, err, result)
			require.Equal(t, "new", mustGet(t, c, "new"), "whatever the commit says: it may have taken effect")
		})
	}
}

func TestCreating_holdsThoughTheCommitPanics(t *testing.T) {
	exists := false
	c := newTidy(t, func(_ context.Context, key string) (string, error) {
		if !exists {
			return "", ErrNotFound
		}
		return key, nil
	}, plain[string](time.Minute))
	require.PanicsWithValue(t, "connection lost", func() {
		_ = c.Creating(t.Context(), []string{"new"}, func() error {
			_, err := c.Get(t.Context(), "new")
			require.ErrorIs(t, err, ErrNotFound)
			exists = true
			panic("connection lost")
		})
	})
	require.Equal(t, "new", mustGet(t, c, "new"))
}

func TestCreating_doesNotCommitBesideAClosedCache(t *testing.T) {
	c := newTidy(t, echo(0), plain[string](time.Minute))
	require.NoError(t, c.Close())
	err := c.Creating(t.Context(), []string{"new"}, func() error {
		t.Error("committed, though no reader will hear of it")
		return nil
	})
	require.ErrorIs(t, err, ErrClosed)
}

// Keys of one id, such as its translations, share what the guard knows.
func TestGuardPart_isWhatTheGuardIsAsked(t *testing.T) {
	opts := plain[string](time.Minute)
	opts.Guard = guardOf(t, "42")
	opts.GuardPart = func(key string) string { id, _ := keyshape.Part(key, 1); return id }
	c := newTidy(t, echo(0), opts)
	read := func(locale, id string) error {
		_, err := c.Get(t.Context(), keyshape.Join(locale, id))
		return err
	}
	require.NoError(t, read("en", "42"))
	require.NoError(t, read("de", "42"))
	require.ErrorIs(t, read("42", "43"), ErrNotFound)
	require.EqualValues(t, 1, c.Stats().Refused)

	require.NoError(t, c.Created(t.Context(), keyshape.Join("en", "43")))
	require.NoError(t, read("de", "43"))
}

// Every life is shortened by its own draw of at most Jitter.
func TestJitter_shortensEveryLife(t *testing.T) {
	for _, u := range []float64{0, 0.25, 0.999999} {
		t.Run(fmt.Sprint(u), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newTidy(t, func(_ context.Context, key string) (string, error) {
					if key == "absent" {
						return "", ErrNotFound
					}
					return key, nil
				}, Options[string]{TTL: time.Hour, NegativeTTL: time.Hour, Jitter: 0.2, Beta: Off,
					Rand: func() float64 { return u }})
				mustGet(t, c, "loaded")
				require.NoError(t, c.Set(t.Context(), "set", "s"))
				_, err := c.Get(t.Context(), "absent")
				require.ErrorIs(t, err, ErrNotFound)

				held := func() (loaded, set, absent bool) {
					_, loaded = c.Peek("loaded")
					_, set = c.Peek("set")
					return loaded, set, c.negative("absent", c.clock.now()) != nil
				}
				life := time.Duration((1 - 0.2*u) * float64(time.Hour))
				time.Sleep(life - time.Microsecond)
				loaded, set, absent := held()
				require.True(t, loaded && set && absent)
				time.Sleep(2 * time.Microsecond)
				loaded, set, absent = held()
				require.False(t, loaded || set || absent)
			})
		})
	}
}

func TestStats_everyReadEndsInOneClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failure := errors.New("down")
		opts := eager[string](time.Minute)
		opts.Name = "products"
		opts.MaxLoads = 1
		opts.Shapes = keyshape.MustCompile("k:{slug}")
		opts.Guard = guardOf(t, "k:v", "k:gone", "k:down", "k:late",
			"k:1", "k:2", "k:3", "k:4", "k:5", "k:6", "k:7", "k:8", "k:9", "k:10")
		c := newTidy(t, func(_ context.Context, key string) (string, error) {
			time.Sleep(time.Second)
			switch key {
			case "k:gone":
				return "", ErrNotFound
			case "k:down":
				return "", failure
			}
			return key, nil
		}, opts)
		read := func(key string, want error) {
			t.Helper()
			_, err := c.Get(t.Context(), key)
			require.ErrorIs(t, err, want)
		}

		go read("k:v", nil) // Loaded
		synctest.Wait()
		read("k:v", nil)                // Joined
		read("k:v", nil)                // a hit
		read("k:gone", ErrNotFound)     // Absent
		read("k:gone", ErrNotFound)     // NegativeHits
		read("k:down", failure)         // Failed
		read("K", ErrMalformedKey)      // Malformed, by its shape
		read("k:stranger", ErrNotFound) // Refused
		read("k:"+strings.Repeat("v", 1<<16), ErrMalformedKey)

		hurried, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := c.Get(hurried, "k:late") // Left
		require.ErrorIs(t, err, context.DeadlineExceeded)
		time.Sleep(time.Minute / 2)
		read("k:v", nil) // Early
		time.Sleep(time.Second)
		synctest.Wait()

		for i := range 9 { // one runs, eight wait
			go read(fmt.Sprintf("k:%d", i+1), nil)
		}
		synctest.Wait()
		read("k:10", ErrOverloaded) // Shed
		time.Sleep(time.Minute)
		require.NoError(t, c.Close())
		read("k:v", ErrClosed)

		s := c.Stats()
		require.Equal(t, "products", s.Name)
		for name, n := range map[string]struct{ got, want uint64 }{
			"Loaded": {s.Loaded, 1 + 9}, "Joined": {s.Joined, 1}, "Hits": {s.Hits, 1}, "Early": {s.Early, 1},
			"Absent": {s.Absent, 1}, "NegativeHits": {s.NegativeHits, 1}, "Failed": {s.Failed, 1},
			"Malformed": {s.Malformed, 2}, "Refused": {s.Refused, 1}, "Left": {s.Left, 1},
			"Shed": {s.Shed, 1}, "Closed": {s.Closed, 1}, "Requests": {s.Requests(), 22},
			"Loads": {s.Loads, 14}, "Refreshes": {s.Refreshes, 1}, "RefreshFailures": {s.RefreshFailures, 0},
			"GateWaits": {s.GateWaits, 8}, "GateSheds": {s.GateSheds, 1},
			"LoadsMost": {uint64(s.LoadsMost), 1}, "LoadsMostOneKey": {uint64(s.LoadsMostOneKey), 1},
			"LoadTime": {uint64(s.LoadTime), uint64(14 * time.Second)}, "LoadTimeMost": {uint64(s.LoadTimeMost), uint64(time.Second)},
			"LoadTimeMean": {uint64(s.LoadTimeMean), uint64(time.Second)},
			"guard's":      {s.Guard.Refused, 1},
		} {
			require.Equal(t, n.want, n.got, name)
		}
	})
}

func TestStats_episodeLastsFromTheFirstMissToThePublish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := 3
		c := newTidy(t, func(_ context.Context, key string) (string, error) {
			if fails--; fails >= 0 {
				return "", errors.New("down")
			}
			return key, nil
		}, plain[string](time.Minute))
		for range 3 {
			_, err := c.Get(t.Context(), "k")
			require.Error(t, err)
		}
		mustGet(t, c, "k")
		s := c.Stats()
		require.EqualValues(t, 1, s.Episodes)
		require.EqualValues(t, 4, s.EpisodeLoads)
		require.EqualValues(t, 4, s.Amplification())
		require.Empty(t, c.episodes.open)

		time.Sleep(time.Minute)
		mustGet(t, c, "k")
		require.EqualValues(t, 2, c.Stats().Episodes)
		require.EqualValues(t, 2.5, c.Stats().Amplification())
		require.InDelta(t, 0, c.Stats().HitRatio(), 0)
		mustGet(t, c, "k")
		require.InDelta(t, 1.0/6, c.Stats().HitRatio(), 1e-9)
	})
}
