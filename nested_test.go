package earlybird

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// graph is a cache whose loader reads, for every key, the keys it is made of.
// Each load takes a second of its own, before it reads the others.
func graph(t *testing.T, opts Options[string], edges map[string][]string) *Cache[string] {
	var c *Cache[string]
	c = newTidy(t, func(ctx context.Context, key string) (string, error) {
		time.Sleep(time.Second)
		parts := []string{key}
		for _, other := range edges[key] {
			v, err := c.Get(ctx, other)
			if err != nil {
				return "", fmt.Errorf("%s: %w", key, err)
			}
			parts = append(parts, v)
		}
		return strings.Join(parts, " "), nil
	}, opts)
	return c
}

func TestNested_loadRunsInItsParentsSlot(t *testing.T) {
	for _, limit := range []int{1, 4, 13, 100} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := plain[string](time.Hour)
				opts.MaxLoads, opts.LoadTimeout = limit, time.Hour
				var c *Cache[string]
				var users atomic.Int64
				c = newTidy(t, func(ctx context.Context, key string) (string, error) {
					time.Sleep(time.Second)
					if key == "user:7" {
						users.Add(1)
						return "ann", nil
					}
					user, err := c.Get(ctx, "user:7")
					return key + " by " + user, err
				}, opts)

				var served, refused atomic.Int64
				together(100, func(i int) {
					key := "page:" + strconv.Itoa(i)
					switch v, err := c.Get(context.Background(), key); {
					case err == nil && v == key+" by ann":
						served.Add(1)
					case errors.Is(err, ErrOverloaded):
						refused.Add(1)
					default:
						t.Errorf("%q, %v", v, err)
					}
				})
				require.EqualValues(t, min(100, limit+8*limit), served.Load())
				require.EqualValues(t, 100, served.Load()+refused.Load())
				require.EqualValues(t, 1, users.Load())
				require.LessOrEqual(t, c.Stats().LoadsMost, limit+1)
			})
		})
	}
}

// The load that a loader asks for may be in the queue already, for somebody
// else, behind the very slot that the loader occupies.
func TestNested_queuedLoadIsLiftedOverTheGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Hour)
		opts.MaxLoads = 1
		c := graph(t, opts, map[string][]string{"page": {"user"}})
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() { require.Equal(t, "page user", mustGet(t, c, "page")) })
		synctest.Wait()
		wg.Go(func() { require.Equal(t, "other", mustGet(t, c, "other")) })
		synctest.Wait()
		wg.Go(func() { require.Equal(t, "user", mustGet(t, c, "user")) })
		synctest.Wait()
		require.Equal(t, 2, c.Stats().GateQueue)
		wg.Wait()
		require.Equal(t, 3*time.Second, time.Since(start), "page's own, user's, then other's")
		require.EqualValues(t, 3, c.Stats().Loads)
	})
}

func TestNested_loaderMayReadManyKeysAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[int](time.Hour)
		opts.MaxLoads = 1
		var c *Cache[int]
		c = newTidy(t, func(ctx context.Context, key string) (int, error) {
			if n, err := strconv.Atoi(key); err == nil {
				time.Sleep(time.Second)
				return n, nil
			}
			var sum atomic.Int64
			together(50, func(i int) {
				n, err := c.Get(ctx, strconv.Itoa(i))
				if err != nil {
					t.Error(err)
				}
				sum.Add(int64(n))
			})
			return int(sum.Load()), nil
		}, opts)
		require.Equal(t, 50*49/2, mustGet(t, c, "sum"))
	})
}

func TestNested_chainsAndDiamondsAreNoCycles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Hour)
		opts.MaxLoads = 2
		c := graph(t, opts, map[string][]string{
			"a": {"b", "c", "d"}, "b": {"d"}, "c": {"d", "b"}, "d": {"e"}, "e": {"f"},
		})
		together(5, func(i int) { mustGet(t, c, string("abcde"[i])) })
		require.Equal(t, "a b d e f c d e f b d e f d e f", mustGet(t, c, "a"))
		require.EqualValues(t, 6, c.Stats().Loads)
	})
}

func TestNested_cycleIsAnErrorAtOnce(t *testing.T) {
	for name, edges := range map[string]map[string][]string{
		"itself":  {"a": {"a"}},
		"a pair":  {"a": {"b"}, "b": {"a"}},
		"a tail":  {"a": {"b"}, "b": {"c"}, "c": {"d"}, "d": {"b"}},
		"a bunch": {"a": {"x", "y", "b"}, "b": {"x", "c"}, "c": {"y", "a"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := plain[string](time.Hour)
				opts.MaxLoads = 1
				c := graph(t, opts, edges)
				start := time.Now()
				_, err := c.Get(t.Context(), "a")
				require.ErrorIs(t, err, ErrRecursiveLoad)
				require.LessOrEqual(t, time.Since(start), 5*time.Second, "what the loads take, no timeout")
			})
		})
	}
}

// A loader that invalidates what it loads would find itself before a new
// flight each time, and never come to an end.
func TestNested_cycleAcrossChangesIsAnErrorAtOnce(t *testing.T) {
	for _, name := range []string{"Invalidate", "InvalidateAll"} {
		t.Run(name, func(t *testing.T) {
			var c *Cache[string]
			c = newTidy(t, func(ctx context.Context, key string) (string, error) {
				if err := changes[name](c, key); err != nil {
					return "", err
				}
				return c.Get(ctx, key)
			}, plain[string](time.Minute))
			_, err := c.Get(t.Context(), "k")
			require.ErrorIs(t, err, ErrRecursiveLoad)
			require.EqualValues(t, 1, c.Stats().Loads)
		})
	}
}

// Loads that wait for one another in a ring, each led by a reader of its own,
// would wait for ever. The one that closes the ring is told.
func TestNested_cycleAcrossCallersIsAnErrorAtOnce(t *testing.T) {
	for _, n := range []int{2, 3, 10} {
		for _, limit := range []int{2, 100} {
			t.Run(fmt.Sprint(n, " callers, MaxLoads ", limit), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					edges := map[string][]string{}
					for i := range n {
						edges[strconv.Itoa(i)] = []string{strconv.Itoa((i + 1) % n)}
					}
					opts := plain[string](time.Hour)
					opts.MaxLoads = limit
					c := graph(t, opts, edges)
					start := time.Now()
					together(n, func(i int) {
						if _, err := c.Get(context.Background(), strconv.Itoa(i)); !errors.Is(err, ErrRecursiveLoad) {
							t.Error(i, err)
						}
					})
					require.Less(t, time.Since(start), 10*time.Second)
				})
			})
		}
	}
}

func TestNested_cycleThroughASecondCacheIsAnErrorAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Hour)
		opts.MaxLoads = 1
		var pages, users *Cache[string]
		pages = newTidy(t, func(ctx context.Context, key string) (string, error) { return users.Get(ctx, key) }, opts)
		users = newTidy(t, func(ctx context.Context, key string) (string, error) { return pages.Get(ctx, key) }, opts)
		start := time.Now()
		_, err := pages.Get(t.Context(), "k")
		require.ErrorIs(t, err, ErrRecursiveLoad)
		require.Zero(t, time.Since(start))
		require.EqualValues(t, 1, pages.Stats().Loads)
		require.EqualValues(t, 1, users.Stats().Loads)
	})
}

// Caches know nothing of each other's readers, so a ring of two callers
// through two caches is only ended by LoadTimeout. It does end.
func TestNested_cycleAcrossCallersAndCachesEndsWithLoadTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Hour)
		var pages, users *Cache[string]
		through := func(other **Cache[string]) Loader[string] {
			return func(ctx context.Context, key string) (string, error) {
				time.Sleep(time.Second)
				return (*other).Get(ctx, key)
			}
		}
		pages, users = newTidy(t, through(&users), opts), newTidy(t, through(&pages), opts)
		start := time.Now()
		together(2, func(i int) {
			_, err := []*Cache[string]{pages, users}[i].Get(context.Background(), "k")
			if !errors.Is(err, ErrLoadTimeout) && !errors.Is(err, ErrRecursiveLoad) {
				t.Error(err)
			}
		})
		require.LessOrEqual(t, time.Since(start), 10*time.Second)
		synctest.Wait()
	})
}

// A page that lacks its author is not an absent page, however the cache knows
// that the author is absent.
func TestNested_absenceOfOneKeyIsNotThatOfAnother(t *testing.T) {
	guard := guardOf(t, "page", "author")
	authors := newTidy(t, func(context.Context, string) (string, error) { return "", ErrNotFound }, plain[string](time.Hour))
	for name, lookup := range map[string]struct {
		opts   Options[string]
		author string
		cache  *Cache[string]
		calls  uint64
	}{
		"asked the origin":    {opts: plain[string](time.Hour), author: "author", calls: 2},
		"refused by a guard":  {opts: Options[string]{TTL: time.Hour, Guard: guard}, author: "stranger", calls: 1},
		"from a second cache": {opts: plain[string](time.Hour), author: "author", cache: authors, calls: 1},
	} {
		t.Run(name, func(t *testing.T) {
			var c *Cache[string]
			asked := errors.New("page: query")
			c = newTidy(t, func(ctx context.Context, key string) (string, error) {
				if key != "page" {
					return "", ErrNotFound
				}
				from := c
				if lookup.cache != nil {
					from = lookup.cache
				}
				_, err := from.Get(ctx, lookup.author)
				if !errors.Is(err, ErrNotFound) {
					t.Errorf("to the loader it is an absence like any other: %v", err)
				}
				return "", fmt.Errorf("%w: %w", asked, err)
			}, lookup.opts)

			for i := range 3 { // the second time the author's absence is remembered
				_, err := c.Get(t.Context(), "page")
				require.Error(t, err)
				require.NotErrorIs(t, err, ErrNotFound)
				require.ErrorIs(t, err, asked)
				require.ErrorContains(t, err, "not found")
				require.EqualValues(t, lookup.calls+uint64(i), c.Stats().Loads, "the page's error is not kept")
			}
			from := c
			if lookup.cache != nil {
				from = lookup.cache
			}
			_, err := from.Get(t.Context(), lookup.author)
			require.ErrorIs(t, err, ErrNotFound)
			require.EqualValues(t, lookup.calls+2, c.Stats().Loads)
		})
	}
}

// Nor does it become one on its way up through several loaders, or for a
// reader who joined.
func TestNested_absenceDeepDownStaysAnErrorAllTheWayUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c *Cache[string]
		next := map[string]string{"a": "b", "b": "c", "c": "d"}
		c = newTidy(t, func(ctx context.Context, key string) (string, error) {
			time.Sleep(time.Second)
			if n, ok := next[key]; ok {
				return c.Get(ctx, n)
			}
			return "", fmt.Errorf("row %s: %w", key, ErrNotFound)
		}, plain[string](time.Hour))
		together(8, func(i int) {
			key := string("abcd"[i%4])
			_, err := c.Get(context.Background(), key)
			if errors.Is(err, ErrNotFound) != (key == "d") {
				t.Errorf("%s: %v", key, err)
			}
		})
		require.Equal(t, 1, c.Stats().Negatives)
	})
}

// A loader that handles a missing part has a value.
func TestNested_loaderMayMakeDoWithoutWhatIsAbsent(t *testing.T) {
	var c *Cache[string]
	c = newTidy(t, func(ctx context.Context, key string) (string, error) {
		if key != "page" {
			return "", ErrNotFound
		}
		if _, err := c.Get(ctx, "author"); errors.Is(err, ErrNotFound) {
			return "page by nobody", nil
		}
		return "", errors.New("unexpected")
	}, plain[string](time.Hour))
	require.Equal(t, "page by nobody", mustGet(t, c, "page"))
}

// rowError is what a loader might wrap an absence in.
type rowError struct{ row string }

func (e *rowError) Error() string { return "row " + e.row }

func TestNested_errorsKeepTheirOtherMeanings(t *testing.T) {
	var c *Cache[string]
	c = newTidy(t, func(ctx context.Context, key string) (string, error) {
		if key == "part" {
			return "", ErrNotFound
		}
		_, err := c.Get(ctx, "part")
		return "", errors.Join(&rowError{"7"}, err, errForbidden)
	}, plain[string](time.Hour))
	_, err := c.Get(t.Context(), "whole")
	require.ErrorIs(t, err, errForbidden)
	require.NotErrorIs(t, err, ErrNotFound)
	require.NotErrorIs(t, err, ErrOverloaded)
	var row *rowError
	require.ErrorAs(t, err, &row)
	require.Equal(t, "7", row.row)
}
