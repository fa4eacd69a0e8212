package model

import (
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird"
)

// What the user's part of the options says of keys and values. It goes by the
// version of a row, so that the judge can say the same.

var errInvalid = errors.New("the row makes no sense")

// life is how long v may live at most; negative if it must not be stored.
func (p Profile) life(v Value) time.Duration {
	if !p.Varied {
		return p.TTL
	}
	switch v.Version % 6 {
	case 1:
		return earlybird.Off
	case 2, 3:
		return p.TTL / 8
	}
	return p.TTL
}

// ttlFor is Options.TTLFor. It also says too much, and nothing.
func (p Profile) ttlFor(_ string, v Value) time.Duration {
	switch life := p.life(v); {
	case life < p.TTL:
		return life
	case v.Version%2 == 0:
		return 2 * p.TTL
	}
	return 0
}

// weight is what v weighs, if the profile weighs values.
func (p Profile) weight(v Value) int {
	if v.Version%7 == 3 {
		return int(p.MaxBytes) + 1
	}
	return 1 + v.Version%4
}

// weigh is Options.Weigh.
func (p Profile) weigh(_ string, v Value) int { return p.weight(v) }

// judged is what a load comes to that brings a row of this version.
func (p Profile) judged(version int) Outcome {
	switch {
	case p.Validates && version%5 == 2:
		return Invalid
	case p.Validates && version%5 == 4:
		return Absent
	}
	return Brought
}

// validate is Options.Validate.
func (p Profile) validate(_ string, v Value) error {
	switch p.judged(v.Version) {
	case Invalid:
		return &Fault{v.By, errInvalid}
	case Absent:
		return &Fault{v.By, earlybird.ErrNotFound}
	}
	return nil
}

// canon returns the one spelling of key.
func (p Profile) canon(key string) string {
	if p.Spells {
		return strings.ToLower(key)
	}
	return key
}

func (p Profile) canonAll(keys []string) []string {
	var all []string
	for _, key := range keys {
		all = append(all, p.canon(key))
	}
	return all
}

// box is what a copy of a value has for itself if the profile clones values.
// Whoever hands a copy out or is handed one spoils it afterwards, as somebody
// does who changes a value in place. Copies of what is spoilt are spoilt.
type box struct{ spoilt atomic.Bool }

// boxed returns v as it is handed to the cache, to be spoilt a moment later.
func (p Profile) boxed(v Value) Value {
	if p.Clones {
		b := new(box)
		v.box = b
		time.AfterFunc(1, func() { b.spoilt.Store(true) })
	}
	return v
}

// clone is Options.Clone.
func clone(v Value) Value {
	old := v.box
	v.box = new(box)
	v.box.spoilt.Store(old != nil && old.spoilt.Load())
	return v
}

// claim takes v out of its box and spoils that. It reports whether somebody had
// done so before.
func (v Value) claim() (bare Value, spoilt bool) {
	if v.box != nil {
		spoilt = v.box.spoilt.Swap(true)
	}
	v.box = nil
	return v, spoilt
}
