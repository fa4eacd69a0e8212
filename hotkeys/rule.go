package hotkeys

import (
	"fmt"
	"math"
	"time"
)

// Rule is how a [Plan] decides. The zero value is usable: 0 is the documented
// default, negative is off.
type Rule struct {
	// Hysteresis says when a key is promoted and when it is cold again.
	Hysteresis

	// MaxHot bounds the keys that are not cold. When there are so many, another
	// must be read twice as often as the least read of them to take its place.
	// Default 256; when off, no key is promoted.
	MaxHot int

	// Life is how long a process keeps its copy of a promoted key. Default 1s;
	// at most 5s. When off, processes keep none, and a key is split for all of
	// its reads.
	Life time.Duration

	// ServerReads is how many reads a second of one key a server of the shared
	// tier is to bear. Default 10,000. When off, no key is split.
	ServerReads float64

	// MaxCopies bounds the copies of a key in the shared tier, the base included.
	// There is no use in more than it has servers. Default 3; at most 64. When
	// off, no key is split.
	MaxCopies int
}

const (
	defaultMaxHot      = 256
	defaultLife        = time.Second
	longestLife        = 5 * time.Second
	defaultServerReads = 10_000
	defaultMaxCopies   = 3
	mostCopies         = 64
	displaces          = 2    // times the rate of the key that must make room
	slack              = 0.75 // of what fewer copies can bear, before there are fewer
)

func (r Rule) filled() (Rule, error) {
	r.Threshold = orDefault(r.Threshold, defaultThreshold)
	r.Cool = orDefault(r.Cool, defaultCool)
	r.Dwell = orDefault(r.Dwell, defaultDwell)
	r.MaxHot = orDefault(r.MaxHot, defaultMaxHot)
	r.Life = orDefault(r.Life, defaultLife)
	r.ServerReads = orDefault(r.ServerReads, defaultServerReads)
	r.MaxCopies = orDefault(r.MaxCopies, defaultMaxCopies)
	switch {
	case math.IsNaN(r.Threshold) || math.IsInf(r.Threshold, 0):
		return r, &OptionError{"Threshold", r.Threshold, "must be a finite number of reads a second"}
	case math.IsNaN(r.ServerReads) || math.IsInf(r.ServerReads, 0):
		return r, &OptionError{"ServerReads", r.ServerReads, "must be a finite number of reads a second"}
	case r.Life > longestLife:
		return r, &OptionError{"Life", r.Life, "must be at most 5s"}
	case r.MaxCopies > mostCopies:
		return r, &OptionError{"MaxCopies", r.MaxCopies, fmt.Sprintf("must be at most %d", mostCopies)}
	}
	return r, nil
}
