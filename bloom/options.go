package bloom

import (
	"fmt"
	"math"
)

// Options configures a Guard. The zero value is a usable guard.
type Options struct {
	// Expected is the number of ids to design for when the source turns out
	// smaller than that. 0 leaves the size to what Build finds.
	Expected int

	// FalsePositiveRate is the share of absent ids that may pass once the
	// guard holds its design count; between 1e-9 and 0.5. 0 means 1e-3, which
	// takes 14.4 bits and ten probes for each id of the design count.
	FalsePositiveRate float64

	// MaxBytes bounds the memory of one filter. 0 means 1 GiB (256 MiB where
	// int has 32 bits, which is also the most it may be there). A build and a
	// fold hold two filters for a while, and a build keeps 16 bytes for each
	// id until it knows how many there are.
	MaxBytes int64

	// Remember bounds the memory, in bytes, for the newest ids given to Add,
	// which are carried from one build to the next in case the source does
	// not list them yet. 0 means 16 MiB, some 600,000 ids of 24 bytes.
	Remember int

	// Shadow makes the guard count what it would refuse, and refuse nothing:
	// the way to try one on live traffic.
	Shadow bool
}

const (
	defaultRate     = 1e-3
	lowestRate      = 1e-9
	highestRate     = 0.5
	defaultRemember = 16 << 20

	largestFilter = math.MaxInt / 8 // bytes: the index of a bit must fit into an int
	defaultFilter = min(1<<30, largestFilter)
)

// OptionError is a refused option.
type OptionError struct {
	Field  string // of Options
	Value  any
	Reason string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("bloom: option %s is %v: %s", e.Field, e.Value, e.Reason)
}

// withDefaults returns o with its zeros filled in, or the first option that
// makes no sense.
func (o Options) withDefaults() (Options, error) {
	o.FalsePositiveRate = orDefault(o.FalsePositiveRate, defaultRate)
	o.MaxBytes = orDefault(o.MaxBytes, defaultFilter)
	o.Remember = orDefault(o.Remember, defaultRemember)
	switch {
	case !(o.FalsePositiveRate >= lowestRate && o.FalsePositiveRate <= highestRate): // so written that NaN fails
		return o, &OptionError{"FalsePositiveRate", o.FalsePositiveRate, "must lie between 1e-9 and 0.5"}
	case o.MaxBytes < minBits/8 || o.MaxBytes > largestFilter:
		return o, &OptionError{"MaxBytes", o.MaxBytes, fmt.Sprintf("must lie between %d and %d", minBits/8, int64(largestFilter))}
	case o.Remember < 0:
		return o, &OptionError{"Remember", o.Remember, "must not be negative"}
	case o.Expected < 0:
		return o, &OptionError{"Expected", o.Expected, "must not be negative"}
	}
	if most := o.mostIDs(); uint64(o.Expected) > most {
		return o, &OptionError{"Expected", o.Expected, fmt.Sprintf("MaxBytes has room for %d ids at this rate", most)}
	}
	return o, nil
}

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}
