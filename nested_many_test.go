package earlybird

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// pages is a cache of pages, each of which its loader makes from two users of
// the same cache: read one by one or as a batch, for one page or for several.
func pages(t *testing.T, limit int, parts func(ctx context.Context, c *Cache[string]) ([]string, error)) (*Cache[string], *atomic.Int64) {
	var users atomic.Int64
	var c *Cache[string]
	one := func(ctx context.Context, key string) (string, error) {
		time.Sleep(time.Second)
		if strings.HasPrefix(key, "user") {
			users.Add(1)
			return key, nil
		}
		names, err := parts(ctx, c)
		return key + " by " + strings.Join(names, ","), err
	}
	opts := plain[string](time.Hour)
	opts.MaxLoads, opts.LoadTimeout = limit, time.Hour
	opts.LoadMany = func(ctx context.Context, keys []string) (map[string]string, error) {
		found := map[string]string{}
		for _, key := range keys {
			v, err := one(ctx, key)
			if err != nil {
				return found, err
			}
			found[key] = v
		}
		return found, nil
	}
	c = newTidy(t, one, opts)
	return c, &users
}

func partsByGet(ctx context.Context, c *Cache[string]) ([]string, error) {
	a, err := c.Get(ctx, "user:7")
	if err != nil {
		return nil, err
	}
	b, err := c.Get(ctx, "user:8")
	return []string{a, b}, err
}

func partsByGetMany(ctx context.Context, c *Cache[string]) ([]string, error) {
	found, err := c.GetMany(ctx, []string{"user:7", "user:8"})
	return []string{found["user:7"], found["user:8"]}, err
}

// However pages and their parts are asked for, nested loads finish, in few
// slots as in many, and each part is loaded once.
func TestNested_batchesFinishInFewSlots(t *testing.T) {
	for _, limit := range []int{1, 4, 13} {
		for name, parts := range map[string]func(context.Context, *Cache[string]) ([]string, error){
			"Get": partsByGet, "GetMany": partsByGetMany,
		} {
			for _, batch := range []int{1, 3} {
				t.Run(fmt.Sprintf("%d slots, %d pages by GetMany, parts by %s", limit, batch, name), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						c, users := pages(t, limit, parts)
						nestManyPages(t, c, limit, batch)
						require.EqualValues(t, 2, users.Load())
						require.LessOrEqual(t, c.Stats().LoadsMost, 2*limit, "one nested load in each slot")
					})
				})
			}
		}
	}
}

// nestManyPages asks for a hundred pages at once, by Get and, batch at a time,
// by GetMany.
func nestManyPages(t *testing.T, c *Cache[string], limit, batch int) {
	var served, refused atomic.Int64
	note := func(key, v string, err error) {
		switch {
		case err == nil && v == key+" by user:7,user:8":
			served.Add(1)
		case errors.Is(err, ErrOverloaded):
			refused.Add(1)
		default:
			t.Errorf("%s: %q, %v", key, v, err)
		}
	}
	together(100, func(i int) {
		if i%2 == 0 {
			key := "page:" + strconv.Itoa(i)
			v, err := c.Get(context.Background(), key)
			note(key, v, err)
			return
		}
		keys := make([]string, batch)
		for j := range keys {
			keys[j] = fmt.Sprintf("page:%d.%d", i, j)
		}
		found, err := c.GetMany(context.Background(), keys)
		var each *ManyError
		errors.As(err, &each)
		for _, key := range keys {
			if each != nil && each.Errors[key] != nil {
				note(key, "", each.Errors[key])
			} else {
				note(key, found[key], nil)
			}
		}
	})
	require.EqualValues(t, 50+50*batch, served.Load()+refused.Load())
	require.GreaterOrEqual(t, served.Load(), int64(min(100, 9*limit)))
}

// A batch that asks for one of its own keys waits for itself, by whatever way
// it asks, and however far down.
func TestNested_batchThatAsksForItsOwnIsAnErrorAtOnce(t *testing.T) {
	for name, own := range map[string]func(ctx context.Context, c *Cache[string], key string) error{
		"by Get": func(ctx context.Context, c *Cache[string], key string) error { _, err := c.Get(ctx, key); return err },
		"by Lookup": func(ctx context.Context, c *Cache[string], key string) error {
			_, err := c.Lookup(ctx, key)
			return err
		},
		"by GetMany": func(ctx context.Context, c *Cache[string], key string) error {
			_, err := c.GetMany(ctx, []string{key, "other"})
			return worst(err)
		},
		"through another": func(ctx context.Context, c *Cache[string], key string) error {
			_, err := c.Get(ctx, "via "+key)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var c *Cache[string]
				opts := plain[string](time.Hour)
				opts.MaxLoads = 1
				opts.LoadMany = func(ctx context.Context, keys []string) (map[string]string, error) {
					if keys[0] == "other" {
						return map[string]string{"other": "other"}, nil
					}
					return nil, own(ctx, c, keys[len(keys)-1])
				}
				c = newTidy(t, func(ctx context.Context, key string) (string, error) {
					return c.Get(ctx, strings.TrimPrefix(key, "via "))
				}, opts)
				start := time.Now()
				_, err := c.GetMany(t.Context(), []string{"a", "b", "c"})
				for _, key := range []string{"a", "b", "c"} {
					require.ErrorIs(t, err.(*ManyError).Errors[key], ErrRecursiveLoad)
				}
				require.Zero(t, time.Since(start))
			})
		})
	}
}

// A ring of callers is closed by batches as by single loads.
func TestNested_cycleAcrossCallersOfBatchesIsAnErrorAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c *Cache[string]
		opts := plain[string](time.Hour)
		opts.LoadMany = func(ctx context.Context, _ []string) (map[string]string, error) {
			time.Sleep(time.Second)
			_, err := c.Get(ctx, "c")
			return nil, err
		}
		c = newTidy(t, func(ctx context.Context, _ string) (string, error) {
			time.Sleep(time.Second)
			_, err := c.GetMany(ctx, []string{"x", "b"})
			return "", worst(err)
		}, opts)
		start := time.Now()
		together(2, func(i int) {
			var err error
			if i == 0 {
				_, err = c.GetMany(context.Background(), []string{"a", "b"})
			} else {
				_, err = c.Get(context.Background(), "c")
			}
			if !errors.Is(worst(err), ErrRecursiveLoad) {
				t.Error(err)
			}
		})
		require.Less(t, time.Since(start), 10*time.Second)
		synctest.Wait()
	})
}

// What a refresh reads of its own key is the value it refreshes.
func TestNested_refreshMayReadItsOwnKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c *Cache[string]
		opts := eager[string](time.Minute)
		opts.MaxLoads = 1
		c = newTidy(t, func(ctx context.Context, key string) (string, error) {
			time.Sleep(time.Second)
			old, err := c.Get(ctx, key)
			if errors.Is(err, ErrRecursiveLoad) {
				return "1", nil
			}
			return old + "1", err
		}, opts)
		require.Equal(t, "1", mustGet(t, c, "k"))
		time.Sleep(50 * time.Second)
		require.Equal(t, Early, mustLookup(t, c, "k").State)
		time.Sleep(2 * time.Second)
		require.Equal(t, "11", mustGet(t, c, "k"))
	})
}
