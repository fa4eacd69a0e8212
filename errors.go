package earlybird

import (
	"errors"
	"fmt"
)

// The errors of a read. Test for them with errors.Is; every other error of a
// read is the loader's own, or that of the caller's context.
var (
	// ErrNotFound says that the key has no value. A loader returns it, possibly
	// wrapped, for an absence; it is the only error the cache remembers.
	ErrNotFound = errors.New("earlybird: not found")

	// ErrMalformedKey says that no well-behaved caller would send this key: it
	// is longer than Options.MaxKeyLen or of none of Options.Shapes.
	ErrMalformedKey = errors.New("earlybird: malformed key")

	// ErrOverloaded says that the origin is busy with MaxLoads calls, and that
	// the queue before it is full or did not move within LoadTimeout.
	ErrOverloaded = errors.New("earlybird: origin overloaded")

	// ErrLoadTimeout says that the loader did not return within
	// Options.LoadTimeout. It is not a context.DeadlineExceeded: that one is
	// about the caller's own deadline.
	ErrLoadTimeout = errors.New("earlybird: load timed out")

	// ErrRecursiveLoad says that a loader asked for a key whose load is waiting
	// for this very loader.
	ErrRecursiveLoad = errors.New("earlybird: recursive load")

	// ErrLoadFailed says that the key is not to be loaded now, because that has
	// failed a moment ago, as a rule in another cache that shares the tier. What it
	// failed with is known there.
	ErrLoadFailed = errors.New("earlybird: load failed a moment ago, in another cache that shares the tier")

	// ErrNotModified is what Options.Revalidate returns for a value that is
	// still right: it lives on for another life.
	ErrNotModified = errors.New("earlybird: not modified")

	// ErrClosed says that the cache was closed.
	ErrClosed = errors.New("earlybird: closed")
)

// PanicError is the error of a read whose loader panicked or called
// runtime.Goexit. The panic goes no further: a bad row does not take down the
// process.
type PanicError struct {
	Value any    // what was passed to panic; nil for runtime.Goexit
	Stack []byte // the loader's stack
}

func (e *PanicError) Error() string {
	if e.Value == nil {
		return "earlybird: loader called runtime.Goexit"
	}
	return fmt.Sprintf("earlybird: loader panicked: %v", e.Value)
}

// InvalidError is the error of a read whose value did not pass
// Options.Validate. It is remembered for a moment, longer each time, because
// asking again at once would bring the same value again.
type InvalidError struct {
	Err error // what Validate said
}

func (e *InvalidError) Error() string { return "earlybird: invalid value: " + e.Err.Error() }
func (e *InvalidError) Unwrap() error { return e.Err }

// ManyError has the error of each key that [Cache.GetMany] has no value for,
// ErrNotFound included. Options.LoadMany may return one to fail for some keys
// and not for others.
type ManyError struct {
	Errors map[string]error

	nested bool // of a GetMany by a loader: it does not name the loader's keys
}

func (e *ManyError) Error() string {
	key, first := "", error(nil)
	for k, err := range e.Errors {
		if first == nil || k < key {
			key, first = k, err
		}
	}
	if len(e.Errors) == 1 {
		return fmt.Sprintf("earlybird: %q: %v", key, first)
	}
	return fmt.Sprintf("earlybird: %d keys without a value, such as %q: %v", len(e.Errors), key, first)
}

// OptionError is the error of [New] for an option it cannot work with.
type OptionError struct {
	Field  string // name of the field of Options, or "load"
	Value  any    // what it was
	Reason string // what it must be
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("earlybird: option %s = %v: %s", e.Field, e.Value, e.Reason)
}

// StuckError is the error of [Cache.Close] when loader calls outlasted it.
type StuckError struct {
	Loads int // loader calls that were still running
}

func (e *StuckError) Error() string {
	return fmt.Sprintf("earlybird: closed with %d loader calls that ignore their context", e.Loads)
}

// absent tells whether err, as a loader returned it, means that the loader's
// own key has no value.
func absent(err error) bool {
	return errors.Is(err, ErrNotFound) && !errors.Is(err, errDependencyNotFound)
}

// errDependencyNotFound is what a Get inside a loader returns for an absence.
// To the loader it is an ErrNotFound; coming back out of the loader it is told
// apart, for the lack of one key says nothing about the key that wanted it.
var errDependencyNotFound error = dependencyNotFound{}

type dependencyNotFound struct{}

func (dependencyNotFound) Error() string        { return "earlybird: dependency not found" }
func (dependencyNotFound) Is(target error) bool { return target == ErrNotFound }

// errAgain says that a flight has ended without an answer: its reader has to ask
// once more.
var errAgain = errors.New("earlybird: ask again")

// opaque is an error of a loader that is not the absence of its own key,
// although it wraps the absence of another.
type opaque struct{ err error }

func (e opaque) Error() string        { return e.err.Error() }
func (e opaque) Is(target error) bool { return target != ErrNotFound && errors.Is(e.err, target) }
func (e opaque) As(target any) bool   { return errors.As(e.err, target) }
