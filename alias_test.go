package earlybird

import (
	"context"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// document has everything that can be shared by accident.
type document struct {
	Body []byte
	Tags map[string]string
	Next *document
}

func newDocument() *document {
	return &document{
		Body: []byte("body"),
		Tags: map[string]string{"lang": "en"},
		Next: &document{Body: []byte("next")},
	}
}

// Values are handed out as they are, to everyone. The library only ever looks
// at the pointer: under the race detector, any write to what readers hold at
// the same time would show, and so would a copy.
func TestValues_areSharedAndNeverTouched(t *testing.T) {
	var loads atomic.Int64
	loaded := []*document{newDocument(), newDocument(), newDocument()}
	c := newTidy(t, func(context.Context, string) (*document, error) {
		return loaded[loads.Add(1)%3], nil
	}, Options[*document]{TTL: time.Millisecond, MaxEntries: 4, Rand: func() float64 { return 0.5 }})

	var reading sync.WaitGroup
	var over atomic.Bool
	for range 32 {
		reading.Go(func() {
			for i := 0; !over.Load(); i++ {
				d, err := c.Get(context.Background(), "k"+strconv.Itoa(i%8))
				if err != nil {
					t.Error(err)
					return
				}
				if string(d.Body) != "body" || d.Tags["lang"] != "en" || string(d.Next.Body) != "next" {
					t.Errorf("%+v", d)
					return
				}
				if d != loaded[0] && d != loaded[1] && d != loaded[2] {
					t.Error("a copy")
					return
				}
			}
		})
	}
	for i := range scaled(200, 5000) {
		key := "k" + strconv.Itoa(i%8)
		require.NoError(t, c.Invalidate(t.Context(), key))
		require.NoError(t, c.Set(t.Context(), key, loaded[0]))
		if i%10 == 0 {
			require.NoError(t, c.InvalidateAll(t.Context()))
			c.Stats()
		}
	}
	over.Store(true)
	reading.Wait()
	require.NoError(t, c.Close())
	for _, d := range loaded {
		require.Equal(t, newDocument(), d)
	}
}

// Waiters of one load hold one value. What a type copies by assignment is
// everybody's own.
func TestValues_copiedByAssignmentAreTheReadersOwn(t *testing.T) {
	type point struct {
		x, y  int
		trail [4]int
	}
	release := make(chan struct{})
	c := newTidy(t, func(context.Context, string) (point, error) {
		<-release
		return point{x: 1, trail: [4]int{1, 2, 3, 4}}, nil
	}, plain[point](time.Minute))
	want := point{x: 1, trail: [4]int{1, 2, 3, 4}}
	go close(release)
	together(32, func(i int) {
		for range 100 {
			p, err := c.Get(context.Background(), "k")
			if err != nil || p != want {
				t.Errorf("%+v, %v", p, err)
				return
			}
			p.x, p.trail[2] = i, i
		}
	})
	require.Equal(t, want, mustGet(t, c, "k"))
}

// Without Clone everybody holds the same value, whatever its type; the library
// neither writes to it nor copies it.
func TestValues_ofEveryKindAreShared(t *testing.T) {
	t.Run("slice", func(t *testing.T) {
		shares(t, byteSlices, func(v []byte) any { return &v[0] })
	})
	t.Run("map", func(t *testing.T) {
		shares(t, plainMaps, func(v map[string]int) any { return reflect.ValueOf(v).Pointer() })
	})
	t.Run("pointer", func(t *testing.T) {
		shares(t, pointers, func(v *document) any { return v })
	})
}

func shares[V any](t *testing.T, k kind[V], identity func(V) any) {
	opts := plain[V](time.Hour)
	opts.StaleWhileRevalidate = time.Hour
	one := k.fresh()
	c := newTidy(t, func(context.Context, string) (V, error) { return one, nil }, opts)
	want := identity(one)
	together(32, func(int) {
		for range 20 {
			v, err := c.Get(context.Background(), "k")
			many, manyErr := c.GetMany(context.Background(), []string{"k", "other"})
			if err != nil || manyErr != nil || identity(v) != want || identity(many["k"]) != want || identity(many["other"]) != want {
				t.Error("not the one value", err, manyErr)
				return
			}
		}
	})
	require.Equal(t, k.fresh(), one)
}
