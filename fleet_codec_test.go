package earlybird_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/store"
)

type user struct {
	ID      int64
	Name    string
	Tags    []string
	Limits  map[string]float64
	Manager *user
	Since   time.Time
	Raw     []byte
}

// crossing loads a value in one instance and reads it in another, one by one and
// with others.
func crossing[V any](t *testing.T, server *redistest.Server, v V) {
	t.Helper()
	f := start(t, 2, func(string) (V, error) { return v, nil }, earlybird.Options[V]{}, patient[V](server.Addr))
	require.Equal(t, v, get(t, f.caches[0], "k"))
	r := lookup(t, f.caches[1], "k")
	require.Equal(t, earlybird.Shared, r.State)
	require.Equal(t, v, r.Value)
	third := f.join(t, earlybird.Options[V]{}, patient[V](server.Addr))
	many, err := third.GetMany(t.Context(), []string{"k", "other"})
	require.NoError(t, err)
	require.Equal(t, map[string]V{"k": v, "other": v}, many)
	require.Equal(t, 1, f.loadsOf("k"))
}

func TestFleet_valuesCrossAsTheyAre(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	whole := &user{
		ID: 1 << 60, Name: "name \xff \x00 {}", Tags: []string{"", "b"}, Limits: map[string]float64{"cpu": 0.1},
		Manager: &user{Name: "boss", Tags: []string{}}, Since: time.Date(2024, 2, 29, 12, 0, 0, 123456789, time.UTC), Raw: []byte{},
	}
	crossing(t, server, whole)
	crossing(t, server, *whole)
	crossing(t, server, (*user)(nil))
	crossing(t, server, &user{})
	crossing(t, server, user{})
	crossing(t, server, "")
	crossing(t, server, 0)
	crossing(t, server, []byte(nil))
	crossing(t, server, []byte{})
	crossing(t, server, []string(nil))
	crossing(t, server, map[string]int{})
	crossing(t, server, strings.Repeat("compresses well ", 10_000))
}

// A value that the tier can not take is served all the same, each instance has its
// own, and what is wrong is said.
func TestFleet_valuesTooLargeStayNear(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	size := atomic.Int64{}
	tier := patient[string](server.Addr)
	tier.MaxBytes, tier.CompressAbove = 1000, -1
	f := start(t, 2, func(string) (string, error) { return strings.Repeat("x", int(size.Load())), nil },
		earlybird.Options[string]{NearTTL: 50 * time.Millisecond}, tier)
	size.Store(10)
	get(t, f.caches[0], "k")
	get(t, f.caches[1], "k")

	size.Store(5000)
	require.NoError(t, f.caches[0].Invalidate(t.Context(), "k"))
	require.Len(t, get(t, f.caches[0], "k"), 5000)
	told := f.told()
	require.Len(t, told, 1)
	var refused *store.ValueError
	require.ErrorAs(t, told[0].Err, &refused)
	require.Equal(t, "k", refused.Key)
	require.Equal(t, "k", told[0].Key)
	for began := time.Now(); time.Since(began) < 300*time.Millisecond; time.Sleep(10 * time.Millisecond) {
		require.Len(t, get(t, f.caches[0], "k"), 5000)
	}
	require.Equal(t, 2, f.loadsOf("k"), "it is kept near for as long as it lives, not for NearTTL")
	eventually(t, func() error {
		if n := len(get(t, f.caches[1], "k")); n != 5000 {
			return fmt.Errorf("%d bytes", n)
		}
		return nil
	})
	require.Equal(t, 3, f.loadsOf("k"))
	require.False(t, f.caches[0].Stats().TierDown, "the tier is well")
	require.ErrorAs(t, f.caches[0].Set(t.Context(), "k", strings.Repeat("y", 2000)), &refused)
	require.Len(t, get(t, f.caches[0], "k"), 2000)
}

// moody is a codec that panics when it is told to.
type moody struct{ encoding, decoding atomic.Bool }

func (m *moody) ID() byte { return 99 }

func (m *moody) Append(b []byte, v string) ([]byte, error) {
	if m.encoding.Load() && v == "value of bad" {
		panic("encode")
	}
	return append(b, v...), nil
}

func (m *moody) Decode(data []byte) (string, error) {
	if m.decoding.Load() && string(data) == "value of bad" {
		panic("decode")
	}
	return string(data), nil
}

func TestFleet_panickingCodecHarmsNobody(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	codec := &moody{}
	tier := patient[string](server.Addr)
	tier.Codec = codec
	f := start(t, 2, named, earlybird.Options[string]{}, tier)
	codec.encoding.Store(true)
	require.Equal(t, "value of bad", get(t, f.caches[0], "bad"))
	require.Equal(t, "value of good", get(t, f.caches[0], "good"))
	told := f.told()
	require.Len(t, told, 1)
	var refused *store.ValueError
	require.ErrorAs(t, told[0].Err, &refused)
	require.ErrorContains(t, refused, "encode")
	require.ErrorAs(t, f.caches[0].Set(t.Context(), "bad", "value of bad"), &refused)
	require.Equal(t, "value of bad", get(t, f.caches[0], "bad"))
	require.Equal(t, "value of bad", get(t, f.caches[1], "bad"), "its lease was given back")
	require.False(t, f.caches[0].Stats().TierDown)

	codec.encoding.Store(false)
	require.NoError(t, f.caches[0].Set(t.Context(), "bad", "value of bad"))
	codec.decoding.Store(true)
	c := f.join(t, earlybird.Options[string]{}, tier)
	found, err := c.GetMany(t.Context(), []string{"bad", "good"})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"bad": "value of bad", "good": "value of good"}, found)
	require.Equal(t, 1, f.loadsOf("good"), "one bad value costs the others nothing")
	d := f.join(t, earlybird.Options[string]{}, tier)
	require.Equal(t, "value of bad", get(t, d, "bad"))
	require.False(t, d.Stats().TierDown)
	require.Zero(t, d.Stats().Unleased, "what can not be read is loaded and overwritten as what is damaged")
	codec.decoding.Store(false)
	e := f.join(t, earlybird.Options[string]{}, tier)
	require.Equal(t, earlybird.Shared, lookup(t, e, "bad").State)
}

// What has been damaged in the server is loaded again and overwritten.
func TestFleet_damageIsMended(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	f := start(t, 1, named, earlybird.Options[string]{}, patient[string](server.Addr))
	get(t, f.caches[0], "k")
	get(t, f.caches[0], "x")
	get(t, f.caches[0], "alien")
	name := rawNames("v", f.namespace, "k", server)[0]
	intact := server.Do("GET", name)
	flipped := []byte(intact)
	flipped[len(flipped)-12] ^= 1
	damages := [][]string{
		{"SET", name, "random bytes", "PX", "60000"},
		{"SET", name, intact[:len(intact)-5], "PX", "60000"},
		{"SET", name, intact[:36], "PX", "60000"},
		{"SET", name, string(flipped), "PX", "60000"},
		{"SET", name, "", "PX", "60000"},
		{"SET", name, server.Do("GET", rawNames("v", f.namespace, "alien", server)[0]), "PX", "60000"}, // another key's
		{"PERSIST", name},
		{"HSET", name, "a", "b"},
		{"LPUSH", name, "a"},
	}
	for i, damage := range damages {
		if damage[0] == "HSET" || damage[0] == "LPUSH" {
			server.Do("DEL", name)
		}
		server.Do(damage...)
		one, many := f.join(t, earlybird.Options[string]{}, patient[string](server.Addr)), f.join(t, earlybird.Options[string]{}, patient[string](server.Addr))
		before := f.loadsOf("k")
		if i%2 == 0 {
			require.Equal(t, "value of k", get(t, one, "k"))
			require.Equal(t, earlybird.Fresh, lookup(t, one, "k").State)
		} else {
			found, err := one.GetMany(t.Context(), []string{"k", "x"})
			require.NoError(t, err)
			require.Equal(t, map[string]string{"k": "value of k", "x": "value of x"}, found)
		}
		require.Equal(t, before+1, f.loadsOf("k"), "%q", damage)
		require.Equal(t, earlybird.Shared, lookup(t, many, "k").State, "%q is not overwritten", damage)
		require.Equal(t, 1, f.loadsOf("x"))
	}
}

// A reply about another key is never served, whatever the server says.
func TestFleet_anotherKeysReplyIsNeverServed(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	f := start(t, 1, named, earlybird.Options[string]{}, patient[string](server.Addr))
	get(t, f.caches[0], "mine")
	raw := server.Do("GET", rawNames("v", f.namespace, "mine", server)[0])
	epoch := server.Do("GET", rawNames("e", f.namespace, "", server)[0])
	fake := redistest.NewFake(t, func(command []string) string {
		switch command[0] {
		case "PTTL":
			return ":60000\r\n"
		case "MGET":
			return fmt.Sprintf("*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(raw), raw, len(epoch), epoch)
		case "EVALSHA":
			return fmt.Sprintf("*3\r\n$5\r\nfound\r\n:60000\r\n$%d\r\n%s\r\n", len(raw), raw)
		}
		return ":0\r\n"
	})
	liar := f.join(t, earlybird.Options[string]{}, patient[string](fake.Addr))
	require.Equal(t, earlybird.Shared, lookup(t, liar, "mine").State, "the fake is good at it")
	for i := range 20 {
		key := fmt.Sprint("yours", i)
		require.Equal(t, "value of "+key, get(t, liar, key))
		found, err := liar.GetMany(t.Context(), []string{key + "a", key + "b"})
		require.NoError(t, err)
		require.Equal(t, map[string]string{key + "a": "value of " + key + "a", key + "b": "value of " + key + "b"}, found)
	}
	require.Positive(t, liar.Stats().Store.Foreign)
}

// The error of an origin is not the tier's, and is not stored there.
func TestFleet_failuresAreNotStored(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	down := errors.New("down")
	var broken atomic.Bool
	broken.Store(true)
	f := start(t, 2, func(key string) (string, error) {
		if broken.Load() {
			return "", down
		}
		return named(key)
	}, earlybird.Options[string]{}, patient[string](server.Addr))
	_, err := f.caches[0].Get(t.Context(), "k")
	require.ErrorIs(t, err, down)
	require.Empty(t, f.told())
	broken.Store(false)
	require.Equal(t, "value of k", get(t, f.caches[1], "k"), "at most a cool-down later")
	require.Equal(t, earlybird.Shared, lookup(t, f.caches[0], "k").State)
}
