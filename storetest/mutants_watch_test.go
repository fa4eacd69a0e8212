package storetest_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird/store"
	"github.com/earlybird-cache/earlybird/storetest"
)

// What a mutant of a Watcher knows.
type mutantEar struct {
	listeners atomic.Int64
	changed   func(key string)
	own       sync.Map // keys that the mutant itself has changed
	closed    atomic.Bool
}

func (m mutant) Notify(changed func(key string), lost func()) {
	m.ear.changed = changed
	m.good.Notify(func(key string) {
		switch {
		case m.is("never tells"):
		case m.is("tells others' changes only"):
			if _, own := m.ear.own.LoadAndDelete(key); !own {
				changed(key)
			}
		case m.is("tells everything"):
			for i := range 50 {
				changed(strconv.Itoa(i))
			}
		default:
			changed(key)
		}
	}, lost)
}

func (m mutant) Watch(ctx context.Context, key string) (store.Record[*storetest.Item], bool, error) {
	if m.is("reads before it watches") {
		r, err := m.good.Get(ctx, key)
		if err != nil {
			return r, false, err
		}
		_, watched, err := m.good.Watch(ctx, key)
		return r, watched, err
	}
	r, watched, err := m.good.Watch(ctx, key)
	switch {
	case m.is("says it watches"), m.is("watches what is not there") && r.Kind == store.Missing:
		watched = true
	}
	return r, watched, err
}

func (m mutant) Close() error {
	err := m.good.Close()
	m.ear.closed.Store(true)
	if m.is("tells after it is closed") && m.ear.changed != nil {
		time.AfterFunc(time.Microsecond, func() { m.ear.changed("k") })
	}
	return err
}
