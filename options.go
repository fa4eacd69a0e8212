package earlybird

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"time"

	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/hotkeys"
	"github.com/earlybird-cache/earlybird/keyshape"
	"github.com/earlybird-cache/earlybird/store"
	"github.com/earlybird-cache/earlybird/xfetch"
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

	// Refresh is where draws aim. xfetch.Classic, the default, aims at expiry: it
	// refreshes hot keys earlier than it need, and keys read less than a dozen
	// times per load often too late. xfetch.Deadline learns what loads take and
	// how often a key is read, and starts in time with the same probability at
	// any rate; it costs some 130 bytes an entry. "go run ./sim plan" compares
	// them.
	Refresh xfetch.Rule

	// StaleWhileRevalidate is how long past its expiry a value is still served
	// while a refresh runs behind it. Default off.
	StaleWhileRevalidate time.Duration

	// StaleIfError is how long past its expiry a value is served when the load
	// for it fails, is refused by the gate or times out, and without a load
	// while such failures back off. Default off.
	StaleIfError time.Duration

	// TTLFor returns the life of one value: at most TTL, which 0 means too;
	// Off for a value that is handed to those who wait for it but not stored.
	TTLFor func(key string, v V) time.Duration

	// LoadTimeout bounds one loader call, and a load's wait for its turn before
	// it. After it the key is free for the next load. Default 10s; cannot be
	// off, for one stuck call would then hold its key for ever.
	LoadTimeout time.Duration

	// MaxLoads bounds the loader calls that run at once, counting those that
	// outlived LoadTimeout until they return. Eight times as many may wait for
	// their turn; the next is refused with ErrOverloaded. Refreshes use at most
	// three in ten. Default 128.
	MaxLoads int

	// MaxLoadRate bounds the loader calls started in a second, in bursts of at
	// most a tenth of that; others wait their turn. Default off.
	MaxLoadRate float64

	// Ramp is how long MaxLoads is narrowed after New, InvalidateAll and an
	// outage of the origin: to a quarter at first, growing exponentially. It
	// makes loads wait and refuses none. Default 2s, or half of LoadTimeout if
	// that is less.
	Ramp time.Duration

	// MaxEntries bounds the number of values held, whatever their size.
	// Default 100,000; cannot be off.
	MaxEntries int

	// MaxBytes bounds the sum of what Weigh says of the values held, instead of
	// MaxEntries; set one of them. Weigh returns the size of a value in any unit,
	// at least 1; what the cache needs for itself comes on top. Default off.
	MaxBytes int64
	Weigh    func(key string, v V) int

	// MaxNegatives bounds the number of absences held. They have their own room
	// and never push out a value. Default MaxEntries/10, at least 16.
	MaxNegatives int

	// MaxKeyLen bounds a key's length in bytes; a longer one is refused with
	// ErrMalformedKey before anything looks at it. Default 1024.
	MaxKeyLen int

	// LoadMany loads several keys at once, for GetMany and Warm. A key left out
	// of the map is absent, one that was not asked for is ignored. With an error
	// the map still counts for the keys in it; a *ManyError fails only the keys
	// it names.
	LoadMany func(ctx context.Context, keys []string) (map[string]V, error)

	// Revalidate is called instead of the loader where an earlier value, old,
	// is still in memory. ErrNotModified gives old another life; anything else
	// is as from the loader.
	Revalidate func(ctx context.Context, key string, old V) (V, error)

	// Validate looks at what the loader returned. A value it has an error for is
	// never stored: its readers get an *InvalidError. ErrNotFound makes the key
	// absent.
	Validate func(key string, v V) error

	// Clone copies values on their way in and on every way out, so that readers
	// may change what they get. nil shares them.
	Clone func(v V) V

	// Canonical returns the one spelling of a key, and is applied first to every
	// key. Canonical(Canonical(k)) must be Canonical(k). nil compares keys byte
	// by byte.
	Canonical func(key string) string

	// Shapes are the patterns of well-formed keys; others are refused with
	// ErrMalformedKey. nil lets every key through.
	Shapes *keyshape.Set

	// Guard knows which ids exist; keys of others are refused with ErrNotFound
	// without asking the origin. nil lets every key through. With a Store that can,
	// a new cache's guard begins with what those of others know.
	Guard *bloom.Guard

	// GuardPart returns the part of a key that the guard knows, such as an id
	// without its tenant. It must depend on nothing but the key. nil is the
	// whole key. With another GuardPart goes another Name of the Guard.
	GuardPart func(key string) string

	// HotKeys finds out which keys are read most; ask it, or Stats. nil does not,
	// unless there is a Store: then New makes one.
	HotKeys *hotkeys.Tracker

	// Store is the tier that this cache shares with others: see packages store
	// and redisstore. nil is none. Each cache has one of its own, and closing the
	// cache does not close it.
	Store store.Store[V]

	// NearTTL is how long what Store said is served from memory before Store is
	// asked again, shortened by Jitter. It bounds how long this cache serves what
	// another one has changed. Default 5s. When off, Store is asked at each read,
	// but for hot keys, and memory holds what only an outage puts there.
	NearTTL time.Duration

	// Hot says which keys are hot and what is done about them where there is a
	// Store: see [hotkeys.Rule]. Its Life is that of a copy in memory that Store
	// tells changes of, or that is there with NearTTL off. Default NearTTL, at
	// most 5s.
	Hot hotkeys.Rule

	// Instances is about how many caches share Store and are read alike, for Hot to
	// tell what a server bears. Default as many as listen to Store, if that is a
	// store.Bus, found out every quarter of a minute or so; else 1.
	Instances int

	// MaxWait bounds how long a read waits for another cache's load of its key.
	// After that it asks the origin, and what that brings is kept in memory only.
	// Default 3s, or LoadTimeout if that is less; when off, nobody waits.
	MaxWait time.Duration

	// Outage is what becomes of reads that find nothing in memory while Store
	// can not be asked. The zero value asks the origin.
	Outage Outage

	// OnError is told of every load and refresh that failed. Whoever waits for
	// the load waits for OnError too: it should be quick. Logger is told likewise,
	// at most once a second.
	OnError func(Event)
	Logger  *slog.Logger

	// Now and Rand replace time.Now and math/rand/v2's Float64, and must be safe
	// for concurrent use and not panic. With Now set, no goroutine keeps time.
	Now  func() time.Time
	Rand func() float64
}

// Outage says what becomes of reads that find nothing in memory while the shared
// tier can not be asked.
type Outage uint8

const (
	// Origin asks the origin, through the gate. What it brings is kept in memory
	// for at most 30s, and asked for again once the tier is back.
	Origin Outage = iota

	// StaleOnly serves what has expired within StaleIfError or
	// StaleWhileRevalidate, and fails otherwise: the origin hears nothing.
	StaleOnly

	// Fail fails with store.ErrUnavailable.
	Fail
)

func (o Outage) String() string {
	switch o {
	case Origin:
		return "Origin"
	case StaleOnly:
		return "StaleOnly"
	case Fail:
		return "Fail"
	}
	return "unknown Outage"
}

// filled returns o with its defaults filled in and everything that is off set
// to -1, or an *OptionError.
func (o Options[V]) filled() (Options[V], error) {
	f := filler{}
	f.duration("TTL", &o.TTL, 0, "is required and must be at least 1ms", time.Millisecond)
	f.float("Jitter", &o.Jitter, 0.1, 1)
	f.float("Beta", &o.Beta, 1, math.MaxFloat64)
	if err := o.Refresh.Validate(); err != nil {
		f.fail("Refresh", o.Refresh, err.Error())
	}
	f.optional(&o.NegativeTTL, min(30*time.Second, o.TTL))
	f.duration("LoadTimeout", &o.LoadTimeout, 10*time.Second, "cannot be off: a load without a bound can hold its key for ever", 1)
	f.optional(&o.StaleWhileRevalidate, Off)
	f.optional(&o.StaleIfError, Off)
	f.optional(&o.NearTTL, 5*time.Second)
	if o.Hot.Life == 0 && o.NearTTL > 0 {
		o.Hot.Life = min(o.NearTTL, 5*time.Second)
	}
	o.Hot.Life = cmp.Or(o.Hot.Life, time.Second)
	if o.Hot.Threshold == 0 {
		o.Hot.Threshold = o.HotKeys.Threshold()
	}
	if o.Instances < 0 {
		f.fail("Instances", o.Instances, "cannot be off: at least this one shares Store")
	}
	f.optional(&o.MaxWait, min(3*time.Second, o.LoadTimeout))
	if o.Outage > Fail {
		f.fail("Outage", o.Outage, "must be Origin, StaleOnly or Fail")
	}
	f.optional(&o.Ramp, min(2*time.Second, o.LoadTimeout/2))
	f.float("MaxLoadRate", &o.MaxLoadRate, Off, math.MaxFloat64)
	f.optionalInt(&o.MaxLoads, 128)
	f.weights(o.MaxEntries, &o.MaxBytes, o.Weigh != nil)
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

func (f *filler) weights(entries int, bytes *int64, weigh bool) {
	*bytes = orDefault(*bytes, Off)
	switch {
	case *bytes > 0 && entries > 0:
		f.fail("MaxBytes", *bytes, "replaces MaxEntries: set one of them")
	case *bytes > 0 && !weigh:
		f.fail("MaxBytes", *bytes, "needs Weigh")
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
