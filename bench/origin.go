package main

import (
	"context"
	"strings"
	"sync/atomic"
	"time"
)

// origin is where everyone's values come from. It counts what it is asked for,
// and answers at once unless told otherwise.
type origin struct {
	value func(key string) string
	delay atomic.Int64 // how long an answer takes, in ns

	keys  atomic.Int64 // asked for so far
	calls atomic.Int64 // made so far; one may ask for many keys
}

func (o *origin) load(_ context.Context, key string) (string, error) {
	o.asked(1)
	return o.value(key), nil
}

func (o *origin) loadMany(_ context.Context, keys []string) (map[string]string, error) {
	o.asked(len(keys))
	values := make(map[string]string, len(keys))
	for _, key := range keys {
		values[key] = o.value(key)
	}
	return values, nil
}

func (o *origin) asked(keys int) {
	o.keys.Add(int64(keys))
	o.calls.Add(1)
	if d := o.delay.Load(); d > 0 {
		time.Sleep(time.Duration(d))
	}
}

// digitsOf returns values that are the digits of their keys, padded. Without
// padding they cost nothing, as they are part of the keys.
func digitsOf(valueLen int) func(key string) string {
	return func(key string) string {
		v := key[min(valueAt, len(key)):]
		if len(v) >= valueLen {
			return v
		}
		return v + strings.Repeat(".", valueLen-len(v))
	}
}

// newOrigin makes an origin of the smallest values.
func newOrigin() *origin { return &origin{value: digitsOf(0)} }
