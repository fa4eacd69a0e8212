package hotkeys

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func newTracker(t testing.TB, opts Options) *Tracker {
	t.Helper()
	tracker, err := New(opts)
	require.NoError(t, err)
	return tracker
}

// all are options under which every read is sampled.
func all(counters int, now func() time.Time) Options {
	return Options{Threshold: 1, Window: time.Second, Counters: counters, Now: now}
}

// hands is a clock that is set by hand.
type hands struct{ time.Time }

func newHands() *hands { return &hands{time.Unix(1_700_000_000, 0)} }

func (h *hands) now() time.Time          { return h.Time }
func (h *hands) advance(d time.Duration) { h.Time = h.Add(d) }

// names returns key-0 to key-(n-1).
func names(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = "key-" + strconv.Itoa(i)
	}
	return keys
}
