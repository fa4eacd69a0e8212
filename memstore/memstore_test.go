package memstore_test

import (
	"fmt"
	"maps"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/memstore"
)

func put[V any](m *memstore.Map[V], key string, v V) {
	m.Update(key, func(V, bool) (V, memstore.Op) { return v, memstore.Put })
}

func TestMap_putKeepDrop(t *testing.T) {
	m, err := memstore.New[int](10)
	require.NoError(t, err)

	m.Update("a", func(old int, ok bool) (int, memstore.Op) {
		require.False(t, ok)
		return 1, memstore.Put
	})
	m.Update("a", func(old int, ok bool) (int, memstore.Op) {
		require.True(t, ok)
		require.Equal(t, 1, old)
		return 2, memstore.Keep
	})
	v, ok := m.Get("a")
	require.True(t, ok)
	require.Equal(t, 1, v, "Keep must leave the value alone")

	m.Update("a", func(int, bool) (int, memstore.Op) { return 0, memstore.Drop })
	_, ok = m.Get("a")
	require.False(t, ok)

	m.Update("a", func(_ int, ok bool) (int, memstore.Op) {
		require.False(t, ok)
		return 0, memstore.Drop
	})
	require.Zero(t, m.Len())
}

func TestMap_staysWithinItsBound(t *testing.T) {
	for _, size := range []int{1, 7, 1000} {
		m, err := memstore.New[int](size)
		require.NoError(t, err)
		for i := range 20 * size {
			put(m, strconv.Itoa(i), i)
		}
		m.Settle()
		require.LessOrEqual(t, m.Len(), size)
		require.NotZero(t, m.Len())
		m.Clear()
		require.Zero(t, m.Len())
	}
}

func TestMap_updatesOfOneKeyDoNotOverlap(t *testing.T) {
	m, err := memstore.New[int](100)
	require.NoError(t, err)
	const writers, rounds = 8, 2000
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range rounds {
				m.Update("n", func(old int, _ bool) (int, memstore.Op) { return old + 1, memstore.Put })
			}
		})
	}
	wg.Wait()
	n, _ := m.Get("n")
	require.Equal(t, writers*rounds, n)
}

func TestMap_nilIsOff(t *testing.T) {
	var m *memstore.Map[int]
	put(m, "a", 1)
	_, ok := m.Get("a")
	require.False(t, ok)
	require.Zero(t, m.Len())
	m.Clear()
	m.Settle()
}

func TestNew_refusesMeaninglessSizes(t *testing.T) {
	for _, size := range []int{0, -1} {
		_, err := memstore.New[int](size)
		require.ErrorContains(t, err, strconv.Itoa(size))
	}
}

func TestMap_getDoesNotAllocate(t *testing.T) {
	m, err := memstore.New[*int](100)
	require.NoError(t, err)
	put(m, "a", new(int))
	require.Zero(t, testing.AllocsPerRun(1000, func() { m.Get("a") }))
}

// Once nobody writes no more is held than the bound says, although writers get
// in each other's way.
func TestMap_keepsItsBoundWhoeverWrites(t *testing.T) {
	const size = 16
	plain, err := memstore.New[int](size)
	require.NoError(t, err)
	weighted, err := memstore.NewWeighted(size, func(int) uint32 { return 1 }, func(string, int) {})
	require.NoError(t, err)
	for _, m := range []*memstore.Map[int]{plain, weighted} {
		for round := range 500 {
			var writers sync.WaitGroup
			for w := range 8 {
				writers.Go(func() {
					for i := range 4 {
						put(m, fmt.Sprint(round, w, i), i)
					}
				})
			}
			writers.Wait()
			require.LessOrEqual(t, m.Len(), size)
		}
	}
}

func TestAll_yieldsWhatIsThere(t *testing.T) {
	m, err := memstore.New[int](100)
	require.NoError(t, err)
	want := map[string]int{"a": 1, "b": 2, "c": 3}
	for key, v := range want {
		put(m, key, v)
	}
	require.Equal(t, want, maps.Collect(m.All()))
	for range m.All() {
		break
	}
	m = nil
	require.Empty(t, maps.Collect(m.All()))
}
