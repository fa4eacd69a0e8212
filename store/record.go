package store

import "time"

// Generation orders what is known of one key: of two, the higher is the newer
// knowledge. Generations of different keys have nothing to do with each other.
// 0 is below all that a tier gives. The highest a tier gives is [MaxGeneration], which
// every server's scripting language can count to.
type Generation uint64

// MaxGeneration is the highest that a tier gives. A Missing Record has it where
// everything that was ever known is void.
const MaxGeneration Generation = 1 << 53

// Kind says what a Record is.
type Kind uint8

const (
	Missing Kind = iota // nothing is known
	Value               // Record.Value is the key's value
	Absent              // the origin has no such key
)

func (k Kind) String() string {
	switch k {
	case Missing:
		return "missing"
	case Value:
		return "value"
	case Absent:
		return "absent"
	}
	return "unknown kind"
}

// Record is what the tier knows of a key. Its zero value knows nothing.
type Record[V any] struct {
	Kind Kind

	// Value is the key's value, a copy that belongs to whoever has the Record.
	// A nil pointer, map or slice is a value like any other.
	Value V

	// Generation is that of the record; if it is Missing, that below which
	// everything is void.
	Generation Generation

	// Left is what is left of Life at the moment the reply arrived, as exactly as
	// the tier measures time; less than 0 says how far Life is past. It says
	// nothing in a Record to be stored.
	Left time.Duration

	// Life is how long the record is fresh, from when it is stored.
	Life time.Duration

	// Grace is how long it is kept past Life, to be served where a load fails.
	Grace time.Duration

	// Delta is the smoothed cost of a load and Cost that of the last one. Both
	// travel unchanged, so that whoever adopts the record draws as those do who
	// loaded it.
	Delta, Cost time.Duration
}

// Reply is the answer about one of several keys.
type Reply[V any] struct {
	Record[V]
	Err error
}
