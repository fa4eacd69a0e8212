package earlybird

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/keyshape"
)

// Every number of Options: what 0 means, what off means, what is refused. The
// rest of the options are those of a plain cache.
func TestOptions_lawOfZeroAndOff(t *testing.T) {
	const anything = time.Hour
	for _, o := range []struct {
		field   string
		set     func(*Options[string])
		want    func(Options[string]) any // what it is filled in with; nil if it is refused
		becomes any
	}{
		{"TTL", func(o *Options[string]) { o.TTL = 0 }, nil, time.Duration(0)},
		{"TTL", func(o *Options[string]) { o.TTL = Off }, nil, time.Duration(-1)},
		{"TTL", func(o *Options[string]) { o.TTL = 1 }, nil, time.Duration(1)},
		{"TTL", func(o *Options[string]) { o.TTL = time.Millisecond - 1 }, nil, time.Millisecond - 1},
		{"TTL", func(o *Options[string]) { o.TTL = -time.Second }, nil, -time.Second},
		{"TTL", func(o *Options[string]) { o.TTL = math.MinInt64 }, nil, time.Duration(math.MinInt64)},
		{"TTL", func(o *Options[string]) { o.TTL = time.Millisecond }, ttl, time.Millisecond},
		{"TTL", func(o *Options[string]) { o.TTL = math.MaxInt64 }, ttl, time.Duration(math.MaxInt64)},

		{"Jitter", func(o *Options[string]) { o.Jitter = 0 }, jitter, 0.1},
		{"Jitter", func(o *Options[string]) { o.Jitter = math.Copysign(0, -1) }, jitter, 0.1},
		{"Jitter", func(o *Options[string]) { o.Jitter = Off }, jitter, -1.0},
		{"Jitter", func(o *Options[string]) { o.Jitter = -0.5 }, jitter, -1.0},
		{"Jitter", func(o *Options[string]) { o.Jitter = 1e-12 }, jitter, 1e-12},
		{"Jitter", func(o *Options[string]) { o.Jitter = 1 }, jitter, 1.0},
		{"Jitter", func(o *Options[string]) { o.Jitter = math.Nextafter(1, 2) }, nil, math.Nextafter(1, 2)},
		{"Jitter", func(o *Options[string]) { o.Jitter = 2 }, nil, 2.0},
		{"Jitter", func(o *Options[string]) { o.Jitter = math.MaxFloat64 }, nil, math.MaxFloat64},
		{"Jitter", func(o *Options[string]) { o.Jitter = math.Inf(1) }, nil, math.Inf(1)},
		{"Jitter", func(o *Options[string]) { o.Jitter = math.Inf(-1) }, nil, math.Inf(-1)},
		{"Jitter", func(o *Options[string]) { o.Jitter = math.NaN() }, nil, math.NaN()},

		{"NegativeTTL", func(o *Options[string]) { o.NegativeTTL = 0 }, negativeTTL, 30 * time.Second},
		{"NegativeTTL", func(o *Options[string]) { o.TTL, o.NegativeTTL = time.Second, 0 }, negativeTTL, time.Second},
		{"NegativeTTL", func(o *Options[string]) { o.NegativeTTL = Off }, negativeTTL, time.Duration(-1)},
		{"NegativeTTL", func(o *Options[string]) { o.NegativeTTL = math.MinInt64 }, negativeTTL, time.Duration(-1)},
		{"NegativeTTL", func(o *Options[string]) { o.NegativeTTL = 1 }, negativeTTL, time.Duration(1)},
		{"NegativeTTL", func(o *Options[string]) { o.NegativeTTL = math.MaxInt64 }, negativeTTL, time.Duration(math.MaxInt64)},

		{"Beta", func(o *Options[string]) { o.Beta = 0 }, beta, 1.0},
		{"Beta", func(o *Options[string]) { o.Beta = Off }, beta, -1.0},
		{"Beta", func(o *Options[string]) { o.Beta = -math.MaxFloat64 }, beta, -1.0},
		{"Beta", func(o *Options[string]) { o.Beta = math.SmallestNonzeroFloat64 }, beta, math.SmallestNonzeroFloat64},
		{"Beta", func(o *Options[string]) { o.Beta = math.MaxFloat64 }, beta, math.MaxFloat64},
		{"Beta", func(o *Options[string]) { o.Beta = math.Inf(1) }, nil, math.Inf(1)},
		{"Beta", func(o *Options[string]) { o.Beta = math.Inf(-1) }, nil, math.Inf(-1)},
		{"Beta", func(o *Options[string]) { o.Beta = math.NaN() }, nil, math.NaN()},

		{"LoadTimeout", func(o *Options[string]) { o.LoadTimeout = 0 }, loadTimeout, 10 * time.Second},
		{"LoadTimeout", func(o *Options[string]) { o.LoadTimeout = anything }, loadTimeout, anything},
		{"LoadTimeout", func(o *Options[string]) { o.LoadTimeout = math.MaxInt64 }, loadTimeout, time.Duration(math.MaxInt64)},
		{"LoadTimeout", func(o *Options[string]) { o.LoadTimeout = Off }, nil, time.Duration(-1)},
		{"LoadTimeout", func(o *Options[string]) { o.LoadTimeout = math.MinInt64 }, nil, time.Duration(math.MinInt64)},

		{"MaxLoads", func(o *Options[string]) { o.MaxLoads = 0 }, maxLoads, 128},
		{"MaxLoads", func(o *Options[string]) { o.MaxLoads = 1 }, maxLoads, 1},
		{"MaxLoads", func(o *Options[string]) { o.MaxLoads = Off }, maxLoads, -1},
		{"MaxLoads", func(o *Options[string]) { o.MaxLoads = math.MinInt }, maxLoads, -1},
		{"MaxLoads", func(o *Options[string]) { o.MaxLoads = math.MaxInt }, maxLoads, math.MaxInt},

		{"MaxEntries", func(o *Options[string]) { o.MaxEntries = 0 }, maxEntries, 100_000},
		{"MaxEntries", func(o *Options[string]) { o.MaxEntries = 1 }, maxEntries, 1},
		{"MaxEntries", func(o *Options[string]) { o.MaxEntries = math.MaxInt }, maxEntries, math.MaxInt},
		{"MaxEntries", func(o *Options[string]) { o.MaxEntries = Off }, nil, -1},
		{"MaxEntries", func(o *Options[string]) { o.MaxEntries = math.MinInt }, nil, math.MinInt},

		{"MaxNegatives", func(o *Options[string]) { o.MaxNegatives = 0 }, maxNegatives, 10_000},
		{"MaxNegatives", func(o *Options[string]) { o.MaxEntries, o.MaxNegatives = 5000, 0 }, maxNegatives, 500},
		{"MaxNegatives", func(o *Options[string]) { o.MaxEntries, o.MaxNegatives = 1, 0 }, maxNegatives, 16},
		{"MaxNegatives", func(o *Options[string]) { o.MaxNegatives = 1 }, maxNegatives, 1},
		{"MaxNegatives", func(o *Options[string]) { o.MaxNegatives = Off }, maxNegatives, -1},
		{"MaxNegatives", func(o *Options[string]) { o.MaxNegatives = math.MaxInt }, maxNegatives, math.MaxInt},

		{"MaxKeyLen", func(o *Options[string]) { o.MaxKeyLen = 0 }, maxKeyLen, 1024},
		{"MaxKeyLen", func(o *Options[string]) { o.MaxKeyLen = 6 }, maxKeyLen, 6},
		{"MaxKeyLen", func(o *Options[string]) { o.MaxKeyLen = Off }, maxKeyLen, math.MaxInt},
		{"MaxKeyLen", func(o *Options[string]) { o.MaxKeyLen = math.MaxInt }, maxKeyLen, math.MaxInt},
	} {
		opts := Options[string]{TTL: time.Minute}
		o.set(&opts)
		c, err := New(sometimesAbsent, opts)
		if o.want == nil {
			requireRefused(t, err, o.field, o.becomes)
			continue
		}
		require.NoError(t, err, "%s = %v", o.field, o.becomes)
		require.Equal(t, o.becomes, o.want(c.opts), o.field)
		requireWorks(t, c)
		require.NoError(t, c.Close())
	}
}

func ttl(o Options[string]) any          { return o.TTL }
func jitter(o Options[string]) any       { return o.Jitter }
func negativeTTL(o Options[string]) any  { return o.NegativeTTL }
func beta(o Options[string]) any         { return o.Beta }
func loadTimeout(o Options[string]) any  { return o.LoadTimeout }
func maxLoads(o Options[string]) any     { return o.MaxLoads }
func maxEntries(o Options[string]) any   { return o.MaxEntries }
func maxNegatives(o Options[string]) any { return o.MaxNegatives }
func maxKeyLen(o Options[string]) any    { return o.MaxKeyLen }

func sometimesAbsent(_ context.Context, key string) (string, error) {
	if key == "absent" {
		return "", ErrNotFound
	}
	return key, nil
}

func requireRefused(t *testing.T, err error, field string, value any) {
	t.Helper()
	var bad *OptionError
	require.ErrorAs(t, err, &bad, "%s = %v", field, value)
	require.Equal(t, field, bad.Field)
	require.Equal(t, fmt.Sprint(value), fmt.Sprint(bad.Value))
	require.NotEmpty(t, bad.Reason)
	require.ErrorContains(t, err, field)
	require.ErrorContains(t, err, fmt.Sprint(value))
}

// requireWorks reads and writes a little, under whatever options.
func requireWorks(t *testing.T, c *Cache[string]) {
	t.Helper()
	for range 2 {
		require.Equal(t, "value", mustGet(t, c, "value"))
		_, err := c.Get(t.Context(), "absent")
		require.ErrorIs(t, err, ErrNotFound)
	}
	require.NoError(t, c.Set(t.Context(), "value", "value"))
	require.Equal(t, "value", mustGet(t, c, "value"))
	require.NoError(t, c.Invalidate(t.Context(), "value"))
	require.Equal(t, "value", mustGet(t, c, "value"))
	require.NoError(t, c.InvalidateAll(t.Context()))
	c.Peek("value")
	c.Stats()
}

// No combination of lives, shares and random numbers makes a cache panic or
// forget what it is asked for.
func TestNew_neverPanics(t *testing.T) {
	lives := []time.Duration{0, 1, time.Millisecond, time.Hour, -time.Second, math.MaxInt64, math.MinInt64}
	shares := []float64{0, 1e-12, 0.1, 1, 2, -1, math.NaN(), math.Inf(1), math.SmallestNonzeroFloat64}
	draws := []float64{0, 0.5, 1, -1, 2, math.NaN(), math.Inf(1), math.Inf(-1)}
	made := 0
	for _, ttl := range lives {
		for _, negative := range lives {
			for _, share := range shares {
				u := draws[made%len(draws)]
				c, err := New(sometimesAbsent, Options[string]{
					TTL: ttl, NegativeTTL: negative, Jitter: share, Beta: share * 1e300,
					MaxEntries: 8, Rand: func() float64 { return u },
				})
				if err != nil {
					var bad *OptionError
					require.ErrorAs(t, err, &bad)
					require.Nil(t, c)
					continue
				}
				made++
				requireWorks(t, c)
				require.NoError(t, c.Close())
			}
		}
	}
	require.Greater(t, made, 100)
}

// A stage that is nil is off, and is no different from one that lets
// everything through.
func TestOptions_nilStagesLetEverythingThrough(t *testing.T) {
	c := newTidy(t, sometimesAbsent, Options[string]{TTL: time.Minute, Shapes: nil, Guard: nil, GuardPart: nil})
	requireWorks(t, c)
	require.Zero(t, c.Stats().Guard)

	none := newTidy(t, sometimesAbsent, Options[string]{TTL: time.Minute, Shapes: new(keyshape.Set)})
	_, err := none.Get(t.Context(), "value")
	require.ErrorIs(t, err, ErrMalformedKey, "an empty set of shapes is not nil: nothing matches")
}
