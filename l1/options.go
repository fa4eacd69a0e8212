package l1

import "fmt"

// Options are what a Tier is made of. The zero value is usable: 0 is the
// documented default. Nothing here can be off; the tier that is off is the nil
// one.
type Options struct {
	// MaxKeys bounds the number of keys, whatever the size of their values.
	// Default 1,024; at most 1<<20. Besides the key and the value each takes
	// some 240 bytes once it is there and 50 in advance.
	MaxKeys int
}

const (
	defaultMaxKeys = 1024
	mostKeys       = 1 << 20
)

// OptionError is the error of [New] for an option it cannot work with.
type OptionError struct {
	Field  string // of Options
	Value  any    // what it was
	Reason string // what it must be
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("l1: option %s = %v: %s", e.Field, e.Value, e.Reason)
}

func (o Options) filled() (Options, error) {
	if o.MaxKeys == 0 {
		o.MaxKeys = defaultMaxKeys
	}
	if o.MaxKeys < 1 || o.MaxKeys > mostKeys {
		return o, &OptionError{"MaxKeys", o.MaxKeys, fmt.Sprintf("must lie between 1 and %d", mostKeys)}
	}
	return o, nil
}
