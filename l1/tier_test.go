package l1

import (
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/require"
)

func TestPut_olderNeverReplacesNewer(t *testing.T) {
	tier := newOpen[string](t, 10)
	require.True(t, tier.Put("k", "five", 5, 100))
	require.False(t, tier.Put("k", "four", 4, never))
	requireValue(t, tier, "k", "five")
	require.True(t, tier.Put("k", "five again", 5, 200), "the same version with a new life")
	requireValue(t, tier, "k", "five again")
	_, ok := tier.Get("k", 200)
	require.False(t, ok)
	require.False(t, tier.Put("k", "four", 4, never), "not even when the newer has expired")
	require.True(t, tier.Put("k", "last", math.MaxUint64, never))
	require.Equal(t, Stats{Kept: 3, Overtaken: 2, Len: 1}, tier.Stats())
}

// Whatever happens in whatever order, a key that is found has the value it was
// given last; with room for all keys every one is found that should be.
func TestTier_findsWhatAMapWould(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	type entry struct {
		value, version uint64
		expiry         int64
	}
	keys := names(40)
	for _, room := range []int{1, 5, 40, 1000} {
		r := rand.New(rand.NewPCG(seed, uint64(room)))
		tier := newOpen[uint64](t, room)
		model := map[string]entry{}
		now := int64(0)
		for i := range uint64(20_000) {
			key := keys[int(r.ExpFloat64()*5)%len(keys)]
			switch n := r.UintN(1000); {
			case n < 400:
				e := entry{i, r.Uint64N(20), now + r.Int64N(60)}
				old, known := model[key]
				kept := tier.Put(key, e.value, e.version, e.expiry)
				if room >= len(keys) {
					require.Equal(t, !known || e.version >= old.version, kept)
				}
				if kept {
					model[key] = e
				}
			case n < 430:
				tier.Delete(key)
				delete(model, key)
			case n < 450:
				tier.Demote(key)
				delete(model, key)
			case n < 452:
				tier.Clear()
				clear(model)
			case n < 454:
				tier.Void()
				clear(model)
			case n < 600:
				now += r.Int64N(10)
			}
			want, known := model[key]
			v, ok := tier.Get(key, now)
			if ok {
				require.Equal(t, want.value, v)
				require.Less(t, now, want.expiry)
			} else if room >= len(keys) {
				require.False(t, known && now < want.expiry, "%s is missing", key)
			}
		}
		require.LessOrEqual(t, tier.Len(), room)
	}
}

func TestPut_saysWhenThereIsNoRoom(t *testing.T) {
	if underRace {
		t.Skip("ristretto learns nothing under the race detector")
	}
	synctest.Test(t, func(t *testing.T) {
		tier, err := New[int](Options{MaxKeys: 4})
		require.NoError(t, err)
		defer tier.Close()
		popular := names(4)
		for range 2000 {
			for _, key := range popular {
				if _, ok := tier.Get(key, 0); !ok {
					require.True(t, tier.Put(key, 1, 1, never))
				}
			}
		}
		synctest.Wait() // until ristretto has taken in what was asked for
		require.False(t, tier.Put("newcomer", 1, 1, never))
		requireNone(t, tier, "newcomer")
		for _, key := range popular {
			requireValue(t, tier, key, 1)
		}
		require.EqualValues(t, 1, tier.Stats().Refused)

		for range 100_000 { // asked for without being there
			tier.Get("newcomer", 0)
		}
		synctest.Wait()
		require.True(t, tier.Put("newcomer", 1, 1, never), "who is asked for gets a place")
		require.Equal(t, 4, tier.Len())
	})
}

func TestTier_hotKeysOutlastAScan(t *testing.T) {
	if underRace {
		t.Skip("ristretto learns nothing under the race detector")
	}
	tier := newOpen[int](t, 500)
	hot := names(100)
	scan := names(100_000)[100:]
	read := func(key string) (hit bool) {
		_, hit = tier.Get(key, 0)
		if !hit {
			tier.Put(key, 1, 1, never)
		}
		return hit
	}
	hits := 0
	const rounds = 100
	for i := range rounds {
		for _, key := range hot {
			if read(key) {
				hits++
			}
		}
		for _, key := range scan[i*900 : i*900+900] {
			read(key)
		}
	}
	require.Greater(t, hits, rounds*len(hot)/2, "900 others between two reads of a key would leave an LRU none")
	require.LessOrEqual(t, tier.Len(), 500)
}

func TestTier_worksInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tier, err := New[int](Options{})
		require.NoError(t, err)
		start := time.Now()
		for i := range 1000 {
			go tier.Put("k", i, uint64(i), never)
			go tier.Get("k", 0)
		}
		synctest.Wait()
		requireValue(t, tier, "k", 999)
		tier.Clear()
		requireNone(t, tier, "k")
		time.Sleep(24 * time.Hour)
		tier.Close()
		require.Equal(t, 24*time.Hour, time.Since(start))
	})
}

// Whoever looked up a place before it was taken away neither finds anything in
// it afterwards nor believes that he stored something.
func TestTier_aPlaceThatIsGoneIsEmptyWhereverAPointerLies(t *testing.T) {
	for name, take := range map[string]func(tier *Tier[int]){
		"demoted": func(tier *Tier[int]) { tier.Demote("k") },
		"cleared": func(tier *Tier[int]) { tier.Clear() },
		"closed":  func(tier *Tier[int]) { tier.Close() },
		"displaced": func(tier *Tier[int]) {
			for _, other := range names(1000) {
				tier.Put(other, 1, 1, never)
			}
			requireNone(t, tier, "k")
		},
	} {
		t.Run(name, func(t *testing.T) {
			tier := newOpen[int](t, 4)
			tier.Put("k", 1, 1, never)
			p := tier.find("k")
			take(tier)
			require.Nil(t, p.cell.Load())
			require.False(t, p.put(&cell[int]{value: 2, version: 2, expiry: never}, &tier.fence, nil, nil))
			require.Nil(t, p.cell.Load())
			requireNone(t, tier, "k")
		})
	}
}

func TestPut_keepsOnlyTheKey(t *testing.T) {
	tier := newOpen[int](t, 100)
	request := new([1 << 20]byte)
	p := weak.Make(request)
	key := unsafe.String(&request[0], 8) // as strings.Split and the like cut it
	tier.Put(key, 1, 1, never)
	require.Equal(t, 1, tier.Len())
	request, key = nil, ""
	runtime.GC()
	require.Nil(t, p.Value(), "a key must not keep its request alive")
}

func TestDelete_letsGoOfTheValue(t *testing.T) {
	tier := newOpen[*[64]byte](t, 100)
	gone := func(forget func()) {
		v := new([64]byte)
		tier.Put("k", v, 1, never)
		p := weak.Make(v)
		v = nil
		forget()
		runtime.GC()
		require.Nil(t, p.Value())
	}
	gone(func() { tier.Delete("k") })
	gone(func() { tier.Demote("k") })
	gone(func() { tier.Put("k", nil, 2, never) })
	tier.Delete("k")
	gone(tier.Clear)
	gone(tier.Close)
}

func TestGet_doesNotAllocate(t *testing.T) {
	tier := newOpen[[4]int](t, 100)
	tier.Put("k", [4]int{1}, 1, never)
	require.Zero(t, testing.AllocsPerRun(10_000, func() { tier.Get("k", 1) }))
	require.Zero(t, testing.AllocsPerRun(10_000, func() { tier.Get("missing", 1) }))
}

func TestTier_nilIsOff(t *testing.T) {
	var tier *Tier[int]
	require.False(t, tier.Put("k", 1, 1, never))
	require.False(t, tier.PutIf("k", 1, 1, never, func() bool { panic("asked") }))
	requireNone(t, tier, "k")
	tier.Delete("k")
	tier.Demote("k")
	tier.Void()
	tier.Clear()
	require.Zero(t, tier.Len())
	require.Zero(t, tier.Stats())
	tier.Close()
}

func TestNew_namesTheOptionItRefuses(t *testing.T) {
	for _, size := range []int{-1, math.MinInt, mostKeys + 1} {
		tier, err := New[int](Options{MaxKeys: size})
		require.Nil(t, tier)
		var refused *OptionError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, "MaxKeys", refused.Field)
		require.Equal(t, size, refused.Value)
	}
	for _, size := range []int{0, 1, 2} {
		tier, err := New[int](Options{MaxKeys: size})
		require.NoError(t, err)
		require.True(t, tier.Put("k", 1, 1, never))
		tier.Close()
	}
}
