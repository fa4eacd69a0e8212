package earlybird

import (
	"context"
	"time"
)

// How a read ends, and what it is counted as.

// State says where a result comes from.
type State uint8

const (
	Fresh  State = iota // memory
	Early               // memory, and this read started a refresh behind it
	Stale               // memory, past its expiry
	Shared              // the shared tier, which this read asked
	Loaded              // a load that this read started
	Joined              // a load, or a question to the shared tier, that another read started
)

// Result is a value and what is known of it.
type Result[V any] struct {
	Value V
	State State
	Age   time.Duration // since it was stored; 0 for one just loaded
}

// result returns e's value and what is known of it.
func (c *Cache[V]) result(e *entry[V], s State, now int64) Result[V] {
	return Result[V]{Value: c.out(e.value), State: s, Age: max(0, time.Duration(now-e.written))}
}

// deliver answers a read with what its flight brought.
func (c *Cache[V]) deliver(ctx context.Context, s seat[V]) (Result[V], error) {
	state, how := Joined, joined
	switch {
	case s.again, s.isTooOld():
		return Result[V]{}, errAgain
	case s.err == ErrOverloaded:
		return c.end(shed, s.err)
	case s.err == ErrClosed:
		return c.end(closed, s.err)
	case absent(s.err) && errandOf(ctx) != nil:
		return c.end(originAbsent, errDependencyNotFound)
	case absent(s.err):
		return c.end(originAbsent, s.err)
	case s.err != nil:
		return c.end(failed, s.err)
	case s.stale:
		state, how = Stale, staleHit
	case s.led && s.shared:
		state, how = Shared, shared
	case s.led && !s.found:
		state, how = Loaded, loaded
	}
	c.tally.count(how)
	return Result[V]{Value: c.out(s.value), State: state, Age: s.age}, nil
}

// end counts a read that ends without a value.
func (c *Cache[V]) end(how class, err error) (Result[V], error) {
	c.tally.count(how)
	return Result[V]{}, err
}

// notFound is the error of a key that is known to be absent.
func notFound(ctx context.Context) error {
	if errandOf(ctx) != nil {
		return errDependencyNotFound
	}
	return ErrNotFound
}

// refuse answers a read that may not join a flight.
func (c *Cache[V]) refuse(err error) (Result[V], error) {
	if err == ErrClosed {
		return c.end(closed, err)
	}
	return c.end(failed, err)
}
