package earlybird

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A change and the write of what was loaded before it never trade places.
func TestInvalidate_isNeverOvertakenByAnEarlierWrite(t *testing.T) {
	var version atomic.Int64
	c := newTidy(t, func(context.Context, string) (int64, error) { return version.Load(), nil }, Options[int64]{TTL: time.Minute})
	for n := range int64(scaled(5000, 100_000)) {
		require.Equal(t, n, mustGet(t, c, "k"))
		version.Store(n + 1)
		require.NoError(t, c.Invalidate(t.Context(), "k"))
		require.Equal(t, n+1, mustGet(t, c, "k"))
	}
}

// The same where every key has a writer and readers, and the writer uses every
// change there is.
func TestChanges_nobodyReadsWhatWasReplaced(t *testing.T) {
	const keys = 8
	rounds := scaled(200, 20_000)
	ctx := context.Background()
	var rows, floors [keys]atomic.Int64
	c := newTidy(t, func(_ context.Context, key string) (int64, error) {
		i, err := strconv.Atoi(key)
		if err != nil {
			return 0, err
		}
		if v := rows[i].Load(); v%5 != 0 { // every fifth version is a deletion
			return v, nil
		}
		return 0, ErrNotFound
	}, Options[int64]{TTL: time.Minute})

	change := func(i int, v int64) error {
		key := strconv.Itoa(i)
		switch {
		case v%5 == 0, v%5 == 2:
			return c.Invalidate(ctx, key)
		case v%5 == 1:
			return c.Creating(ctx, []string{key}, func() error { return nil })
		case v%5 == 3:
			return c.Set(ctx, key, v)
		}
		return c.InvalidateAll(ctx)
	}
	check := func(i int) {
		floor := floors[i].Load()
		v, err := c.Get(ctx, strconv.Itoa(i))
		ceiling := rows[i].Load()
		switch {
		case err == nil && v >= floor:
		case err == ErrNotFound && (floor+4)/5*5 <= ceiling: // a deletion lies in between
		default:
			t.Errorf("key %d: %d, %v; versions %d to %d were possible", i, v, err, floor, ceiling)
		}
	}

	var writing, reading sync.WaitGroup
	var done atomic.Bool
	for i := range keys {
		writing.Go(func() {
			for range rounds {
				v := rows[i].Add(1)
				if err := change(i, v); err != nil {
					t.Error(err)
				}
				floors[i].Store(v)
				check(i)
			}
		})
		reading.Go(func() {
			for !done.Load() {
				check(i)
			}
		})
	}
	writing.Wait()
	done.Store(true)
	reading.Wait()
}

// doors is an origin whose next load can be held after it has read its row.
type doors struct {
	mu  sync.Mutex
	row string // "" is absent
	let chan struct{}
}

// hold makes the next load wait, once it has read, for the returned function.
func (d *doors) hold() (open func()) {
	let := make(chan struct{})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.let = let
	return func() { close(let) }
}

func (d *doors) write(row string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.row = row
}

func (d *doors) load(context.Context, string) (string, error) {
	time.Sleep(100 * time.Millisecond)
	d.mu.Lock()
	row, let := d.row, d.let
	d.let = nil
	d.mu.Unlock()
	if let != nil {
		<-let
	}
	if row == "" {
		return "", ErrNotFound
	}
	return row, nil
}

// changes are all ways to tell the cache that a row was rewritten.
var changes = map[string]func(c *Cache[string], now string) error{
	"Invalidate":    func(c *Cache[string], _ string) error { return c.Invalidate(context.Background(), "k") },
	"InvalidateAll": func(c *Cache[string], _ string) error { return c.InvalidateAll(context.Background()) },
	"Set":           func(c *Cache[string], now string) error { return c.Set(context.Background(), "k", now) },
}

func TestChange_slowLoadFromBeforeIsNotStored(t *testing.T) {
	for name, change := range changes {
		for _, before := range []string{"v1", ""} {
			t.Run(name+" over "+strconv.Quote(before), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					origin := &doors{row: before}
					c := newTidy(t, origin.load, plain[string](time.Hour))
					open := origin.hold()
					early := []<-chan answer{ask(c, "k"), ask(c, "k")}
					time.Sleep(time.Second)

					origin.write("v2")
					require.NoError(t, change(c, "v2"))
					require.Equal(t, "v2", mustGet(t, c, "k"), "even while the old load runs")
					open()
					for _, a := range early {
						got := <-a
						require.Equal(t, before, got.value, "they asked before the change")
						if before == "" {
							require.ErrorIs(t, got.err, ErrNotFound)
						}
					}
					for range 3 {
						require.Equal(t, "v2", mustGet(t, c, "k"))
						time.Sleep(time.Second)
					}
					require.EqualValues(t, 1, c.Stats().Fenced)
				})
			})
		}
	}
}

func TestChange_refreshFromBeforeIsNotStored(t *testing.T) {
	for name, change := range changes {
		for _, after := range []string{"v2", ""} {
			if name == "Set" && after == "" {
				continue
			}
			t.Run(name+" to "+strconv.Quote(after), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					origin := &doors{row: "v1"}
					c := newTidy(t, origin.load, eager[string](10*time.Second))
					mustGet(t, c, "k")
					time.Sleep(8 * time.Second)
					open := origin.hold()
					require.Equal(t, Early, mustLookup(t, c, "k").State)
					time.Sleep(time.Second)

					origin.write(after)
					require.NoError(t, change(c, after))
					open() // the refresh comes back with v1
					synctest.Wait()
					for range 3 {
						v, err := c.Get(t.Context(), "k")
						require.Equal(t, after, v)
						if after == "" {
							require.ErrorIs(t, err, ErrNotFound)
						}
					}
					require.EqualValues(t, 1, c.Stats().Fenced)
				})
			})
		}
	}
}

// A refresh that finds the row gone takes the value away.
func TestRefresh_ofADeletedRowEndsTheValue(t *testing.T) {
	for name, negativeTTL := range map[string]time.Duration{"remembered": 0, "not remembered": Off} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				origin := &doors{row: "v1"}
				opts := eager[string](10 * time.Second)
				opts.NegativeTTL = negativeTTL
				c := newTidy(t, origin.load, opts)
				mustGet(t, c, "k")
				origin.write("")
				time.Sleep(8 * time.Second)
				require.Equal(t, Early, mustLookup(t, c, "k").State)
				time.Sleep(time.Second)

				_, ok := c.Peek("k")
				require.False(t, ok)
				_, err := c.Get(t.Context(), "k")
				require.ErrorIs(t, err, ErrNotFound)
				require.Zero(t, c.Stats().RefreshFailures)
			})
		})
	}
}
