package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLatencies_percentiles(t *testing.T) {
	l := newLatencies()
	for i := 1; i <= 1000; i++ {
		l.add(time.Duration(i) * 100)
	}
	const figures = 0.01
	require.InEpsilon(t, 50_000, l.at(50), figures)
	require.InEpsilon(t, 99_000, l.at(99), figures)
	require.InEpsilon(t, 99_900, l.at(99.9), figures)
}

func TestLatencies_countWhatIsBeyondTheScale(t *testing.T) {
	l := newLatencies()
	l.add(-1)
	l.add(time.Hour)
	require.EqualValues(t, 2, l.TotalCount())
	require.InEpsilon(t, float64(time.Minute), l.at(100), 0.01)
}

func TestStamp_isWhenTheValueWasMade(t *testing.T) {
	before := sinceStart()
	v := stamped(200)("")
	after := sinceStart()
	require.Len(t, v, 200)
	require.LessOrEqual(t, before, stampOf(v))
	require.LessOrEqual(t, stampOf(v), after)
}

// With a fifth of the reads' cost to be collected after each heap's worth of
// allocations.
func TestMutation_share(t *testing.T) {
	m := mutation{seconds: 2, cpu: 4, allocated: 100, reads: 50}
	s, err := m.with(2, 200) // 8 s of reading between collections
	require.NoError(t, err)
	require.InDelta(t, 0.2, s[gcShare], 1e-12)
	require.Equal(t, 25.0, s[gcReads])
	require.Equal(t, 2.0, s[gcBytes])
}
