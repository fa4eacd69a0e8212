package bloom

import (
	"fmt"
	"math"
	"time"
)

// Options configures a Guard. The zero value is a usable guard. Throughout, 0
// is the documented default, negative is off where off makes sense, and NaN
// and infinities are errors.
type Options struct {
	// Name says which ids these are ("products"). It is stored in snapshots:
	// one that was saved under another name is not loaded. So a program that
	// spells its ids otherwise than it did needs another. At most 255 bytes.
	Name string

	// Expected is the number of ids to design for when the source turns out
	// smaller than that. 0 leaves the size to what Build finds.
	Expected int

	// FalsePositiveRate is the share of absent ids that may pass once the
	// guard holds its design count; between 1e-9 and 0.5. 0 means 1e-3, which
	// takes 14.4 bits and ten probes for each id of the design count.
	FalsePositiveRate float64

	// MaxBytes bounds the memory of one filter. 0 means 1 GiB (256 MiB where
	// int has 32 bits, which is also the most it may be there). A build, a
	// fold and the grace after a build hold two filters, and a build keeps 16
	// bytes for each id until it knows how many there are.
	MaxBytes int64

	// Remember bounds the memory, in bytes, for the newest ids given to Add,
	// which are carried from one build to the next in case the source does
	// not list them yet. 0 means 16 MiB, some 600,000 ids of 24 bytes; at
	// least 1 MiB.
	Remember int

	// Grace is how long a new filter is on probation: ids that only its
	// predecessor knows pass too, and should the origin have one of them, the
	// build was incomplete and the guard fails open before it has refused
	// anybody. 0 means one minute.
	Grace time.Duration

	// MaxAge makes the guard fail open when its ids were read from the source
	// longer ago than this. 0 means off: whoever calls Add for every new id
	// needs no bound.
	MaxAge time.Duration

	// Audit is the share of refusals to let through to the origin, picked at
	// random, to learn whether they were right: with a share q, the first of
	// a stream of wrongful refusals comes to light after 1/q of them on
	// average. 0 means off.
	Audit float64

	// AuditRate bounds the audited refusals per second. 0 means 1.
	AuditRate float64

	// Shadow makes the guard count what it would refuse, and refuse nothing:
	// the way to try one on live traffic.
	Shadow bool
}

const (
	longestName      = 255
	defaultRate      = 1e-3
	lowestRate       = 1e-9
	highestRate      = 0.5
	defaultRemember  = 16 << 20
	leastRemember    = 16 * journalChunk
	defaultGrace     = time.Minute
	defaultAuditRate = 1.0

	largestFilter = math.MaxInt / 8 // bytes: the index of a bit must fit into an int
	defaultFilter = min(1<<30, largestFilter)
)

// OptionError is a refused option.
type OptionError struct {
	Field  string // of Options, Source or Keeper
	Value  any
	Reason string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("bloom: option %s is %v: %s", e.Field, e.Value, e.Reason)
}

// withDefaults returns o with its zeros filled in and zeros for what is off,
// or the first option that makes no sense.
func (o Options) withDefaults() (Options, error) {
	o.FalsePositiveRate = orDefault(o.FalsePositiveRate, defaultRate)
	o.MaxBytes = orDefault(o.MaxBytes, defaultFilter)
	o.Remember = orDefault(o.Remember, defaultRemember)
	o.Grace = max(orDefault(o.Grace, defaultGrace), 0)
	o.MaxAge = max(o.MaxAge, 0)
	o.Audit = max(o.Audit, 0) // keeps NaN
	o.AuditRate = orDefault(o.AuditRate, defaultAuditRate)
	return o, o.check()
}

// check is so written that NaN fails every range.
func (o *Options) check() error {
	if len(o.Name) > longestName {
		return &OptionError{"Name", o.Name, fmt.Sprintf("is longer than %d bytes", longestName)}
	}
	if !(o.FalsePositiveRate >= lowestRate && o.FalsePositiveRate <= highestRate) {
		return &OptionError{"FalsePositiveRate", o.FalsePositiveRate, "must lie between 1e-9 and 0.5"}
	}
	if o.MaxBytes < minBits/8 || o.MaxBytes > largestFilter {
		return &OptionError{"MaxBytes", o.MaxBytes, fmt.Sprintf("must lie between %d and %d", minBits/8, int64(largestFilter))}
	}
	if o.Remember < leastRemember {
		return &OptionError{"Remember", o.Remember, fmt.Sprintf("must be at least %d", leastRemember)}
	}
	if !(o.Audit <= 1) {
		return &OptionError{"Audit", o.Audit, "is a share: at most 1"}
	}
	if math.IsNaN(o.AuditRate) || math.IsInf(o.AuditRate, 0) {
		return &OptionError{"AuditRate", o.AuditRate, "must be finite"}
	}
	if o.Expected < 0 {
		return &OptionError{"Expected", o.Expected, "must not be negative"}
	}
	if most := o.mostIDs(); uint64(o.Expected) > most {
		return &OptionError{"Expected", o.Expected, fmt.Sprintf("MaxBytes has room for %d ids at this rate", most)}
	}
	return nil
}

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}
