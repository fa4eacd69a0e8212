package storetest_test

import (
	"context"
	"slices"

	"github.com/earlybird-cache/earlybird/store"
)

func (m mutant) Listen(from string, heard func(store.Fact), gap func()) {
	if m.is("forgets places") {
		from = ""
	}
	m.good.Listen(from, heard, gap)
}

func (m mutant) Hears() bool {
	switch {
	case m.is("hears all the same"):
		return true
	case m.is("hears when it is closed") && m.ear.closed.Load():
		return true
	}
	return m.good.Hears()
}

func (m mutant) Listeners() int {
	n := m.good.Listeners()
	if m.is("counts those who have left") {
		m.ear.listeners.Store(max(m.ear.listeners.Load(), int64(n)))
		return int(m.ear.listeners.Load())
	}
	return n
}

func (m mutant) Tell(ctx context.Context, f store.Fact) error {
	switch {
	case m.is("tells and does not wait"):
		go m.good.Tell(ctx, f)
		return nil
	case m.is("turns facts round"):
		f.Keys = slices.Clone(f.Keys)
		slices.Reverse(f.Keys)
	}
	return m.good.Tell(ctx, f)
}
