package hotkeys

import (
	"fmt"
	"math"
	"time"
)

// Options are what a Tracker is made of. The zero value is usable: 0 is the
// documented default. Nothing here can be off; the tracker that is off is the
// nil one.
type Options struct {
	// Threshold is the rate, in reads a second, at which a key is to be found.
	// It decides how few reads need to be sampled: [SampleRate] of it over 2.5
	// windows, one in 71 by default. Default 5,000.
	Threshold float64

	// Window is the time after which a read weighs half. Default 1s; between
	// 1ms and 24h.
	Window time.Duration

	// Counters bounds the keys that are counted at a time. It is rounded up to
	// 64 times a power of two; at most 1<<20. Default 2,048, which is ten for
	// each key that can be read 5,000 times a second out of a million reads.
	// Each takes 64 bytes besides its key.
	Counters int

	// MaxKeyLen bounds the bytes that are kept of a key. A longer one is told
	// apart by all of its bytes but listed by its beginning, see
	// [HotKey.Truncated]. Default 1,024.
	MaxKeyLen int

	// Redact turns a key into what may be shown of it. [Tracker.Top] applies
	// it; [Tracker.Above], which is for decisions, does not. It must be safe
	// for concurrent use. nil shows keys as they are.
	Redact func(key string) string

	// Now replaces time.Now, and must be safe for concurrent use. While it
	// stands still or goes back, nothing is forgotten.
	Now func() time.Time
}

const (
	defaultThreshold = 5000
	defaultWindow    = time.Second
	defaultCounters  = 2048
	defaultMaxKeyLen = 1024

	mostCounters  = 1 << 20
	longestWindow = 24 * time.Hour
)

// OptionError is the error of [New] for an option it cannot work with.
type OptionError struct {
	Field  string // of Options
	Value  any    // what it was
	Reason string // what it must be
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("hotkeys: option %s = %v: %s", e.Field, e.Value, e.Reason)
}

// filled returns o with its defaults filled in, or the first option that makes
// no sense.
func (o Options) filled() (Options, error) {
	o.Threshold = orDefault(o.Threshold, defaultThreshold)
	o.Window = orDefault(o.Window, defaultWindow)
	o.Counters = orDefault(o.Counters, defaultCounters)
	o.MaxKeyLen = orDefault(o.MaxKeyLen, defaultMaxKeyLen)
	return o, o.check()
}

func (o Options) check() error {
	switch {
	case !(o.Threshold > 0) || math.IsInf(o.Threshold, 0): // NaN is not > 0
		return &OptionError{"Threshold", o.Threshold, "must be a positive, finite number of reads a second"}
	case o.Window < time.Millisecond || o.Window > longestWindow:
		return &OptionError{"Window", o.Window, "must lie between 1ms and 24h"}
	case o.Counters < 0 || o.Counters > mostCounters:
		return &OptionError{"Counters", o.Counters, fmt.Sprintf("must lie between 1 and %d", mostCounters)}
	case o.MaxKeyLen < 0:
		return &OptionError{"MaxKeyLen", o.MaxKeyLen, "cannot be off: memory must have a bound"}
	}
	return nil
}

func orDefault[T ~int | ~int64 | ~float64](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}
