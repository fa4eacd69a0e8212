package earlybird

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/keyshape"
)

// Off switches an option off. It is untyped and fits durations, floats and
// integers alike. Any negative value does the same; 0 always means the
// documented default.
const Off = -1

// Options are what a cache is made of. Only TTL is required.
//
// One law holds for every number: 0 is the documented default, negative is
// off, NaN and infinities are errors. An option that must not be off says so,
// and [New] returns an *[OptionError] for it.
type Options[V any] struct {
	// Name tells caches apart in Stats.
	Name string

	// TTL is the upper bound on a value's life, counted from when its load
	// ended. Required, at least 1ms.
	TTL time.Duration

	// Jitter is the share, up to 1, by which each life is shortened at random,
	// drawn anew at every write, so that what was written together does not
	// expire together. Default 0.1.
	Jitter float64

	// NegativeTTL is how long an absence is remembered. Default 30s, or TTL if
	// that is less. When off, absences are shared with those waiting but not
	// remembered.
	NegativeTTL time.Duration

	// Beta is XFetch's eagerness: above 1 refreshes earlier, below 1 later.
	// Default 1. When off, values are refreshed only once they have expired.
	Beta float64

	// LoadTimeout bounds one loader call, and a load's wait for its turn before
	// it. After it the key is free for the next load. Default 10s; cannot be
	// off, for one stuck call would then hold its key for ever.
	LoadTimeout time.Duration

	// MaxLoads bounds the loader calls that run at once, counting those that
	// outlived LoadTimeout until they return. Eight times as many may wait for
	// their turn; the next is refused with ErrOverloaded. Refreshes use at most
	// three in ten. Default 128.
	MaxLoads int

	// MaxEntries bounds the number of values held, whatever their size.
	// Default 100,000; cannot be off.
	MaxEntries int

	// MaxNegatives bounds the number of absences held. They have their own room
	// and never push out a value. Default MaxEntries/10, at least 16.
	MaxNegatives int

	// MaxKeyLen bounds a key's length in bytes; a longer one is refused with
	// ErrMalformedKey before anything looks at it. Default 1024.
	MaxKeyLen int

	// Shapes are the patterns of well-formed keys; others are refused with
	// ErrMalformedKey. nil lets every key through.
	Shapes *keyshape.Set

	// Guard knows which ids exist; keys of others are refused with ErrNotFound
	// without asking the origin. nil lets every key through.
	Guard *bloom.Guard

	// GuardPart returns the part of a key that the guard knows, such as an id
	// without its tenant. It must depend on nothing but the key. nil is the
	// whole key.
	GuardPart func(key string) string

	// Now and Rand replace time.Now and math/rand/v2's Float64, and must be safe
	// for concurrent use. With Now set, no goroutine keeps time.
	Now  func() time.Time
	Rand func() float64
}

// filled returns o with its defaults filled in and everything that is off set
// to -1, or an *OptionError.
func (o Options[V]) filled() (Options[V], error) {
	f := filler{}
	f.duration("TTL", &o.TTL, 0, "is required and must be at least 1ms", time.Millisecond)
	f.float("Jitter", &o.Jitter, 0.1, 1)
	f.float("Beta", &o.Beta, 1, math.MaxFloat64)
	f.optional(&o.NegativeTTL, min(30*time.Second, o.TTL))
	f.duration("LoadTimeout", &o.LoadTimeout, 10*time.Second, "cannot be off: a load without a bound can hold its key for ever", 1)
	f.optionalInt(&o.MaxLoads, 128)
	f.count("MaxEntries", &o.MaxEntries, 100_000)
	f.optionalInt(&o.MaxNegatives, max(o.MaxEntries/10, 16))
	f.optionalInt(&o.MaxKeyLen, 1024)
	if o.MaxKeyLen < 0 {
		o.MaxKeyLen = math.MaxInt
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	return o, f.err
}

// filler fills in defaults and keeps the first error.
type filler struct{ err error }

func (f *filler) fail(field string, value any, reason string) {
	if f.err == nil {
		f.err = &OptionError{Field: field, Value: value, Reason: reason}
	}
}

func (f *filler) duration(field string, d *time.Duration, def time.Duration, reason string, least time.Duration) {
	if *d == 0 {
		*d = def
	}
	if *d < least {
		f.fail(field, *d, reason)
	}
}

func (f *filler) count(field string, n *int, def int) {
	if *n == 0 {
		*n = def
	}
	if *n < 0 {
		f.fail(field, *n, "cannot be off: memory must have a bound")
	}
}

func (f *filler) float(field string, x *float64, def, most float64) {
	switch {
	case math.IsNaN(*x) || math.IsInf(*x, 0):
		f.fail(field, *x, "must be a finite number")
	case *x > most:
		f.fail(field, *x, fmt.Sprintf("must be at most %v", most))
	case *x == 0:
		*x = def
	case *x < 0:
		*x = Off
	}
}

func (f *filler) optional(d *time.Duration, def time.Duration) {
	*d = orDefault(*d, def)
}

func (f *filler) optionalInt(n *int, def int) {
	*n = orDefault(*n, def)
}

func orDefault[T ~int | ~int64](x, def T) T {
	switch {
	case x == 0:
		return def
	case x < 0:
		return Off
	}
	return x
}
