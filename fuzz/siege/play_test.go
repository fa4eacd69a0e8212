package siege

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/fuzz/hostile"
)

// small is a siege of few requests; all tests may share it.
var small = New(2000, 1)

func named(t *testing.T, name string) Plan {
	t.Helper()
	p, err := Named(name)
	require.NoError(t, err)
	return p
}

// measure plays p without judging times, which are the machine's here.
func measure(t *testing.T, p Plan) *outcome {
	t.Helper()
	o, err := small.measure(p)
	require.NoError(t, err)
	t.Logf("%+v", o.row(p))
	require.Equal(t, p.Name == "scan", o.rejectVsHit == 0)
	clear(o.during.waits)
	o.rejectVsHit = 0
	return o
}

func TestPlay_everyAttackIsHeldOff(t *testing.T) {
	for _, p := range Plans() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			o := measure(t, p)
			o.growth = 0 // the heap has others on it now
			r := o.row(p)
			require.Equal(t, Holds, r.Verdict)
			require.False(t, r.Broken())
			require.Equal(t, p.Name, r.Name)
			require.Equal(t, 2000, r.Requests)
			require.LessOrEqual(t, r.OriginCalls, r.OriginAllowed)
			require.InDelta(t, 500*float64(r.OriginCalls), r.OriginPerMillion, 1)
			require.Zero(t, r.WrongfulRefusals)
			require.Greater(t, r.GoodHitBefore, 0.5)
			require.Greater(t, r.GoodHitDuring, 0.5)
		})
	}
}

func TestPlay_absencesHaveABound(t *testing.T) {
	for _, name := range []string{"negative-flood", "oversize"} {
		p := named(t, name)
		require.Equal(t, Holds, measure(t, p).row(p).Verdict)
	}
}

func TestPlay_givesTheRow(t *testing.T) {
	r, err := small.Play(named(t, "tangle"))
	require.NoError(t, err)
	require.Equal(t, "tangle", r.Name)
	require.Greater(t, r.P99, 1.0, "a call takes that long")
}

func TestPlay_everyCraftedIDPassesTheBaseline(t *testing.T) {
	baselines := named(t, "murmur").Baselines()
	require.Len(t, baselines, 1)
	r := measure(t, baselines[0]).row(baselines[0])
	require.Equal(t, Baseline, r.Verdict)
	require.False(t, r.Broken())
	require.Equal(t, r.Requests, r.OriginCalls)
	require.EqualValues(t, 1e6, r.OriginPerMillion)
	require.Empty(t, named(t, "random").Baselines())
}

// An attack that meets with less than it should must be seen to break through: else a
// verdict proves nothing.
func TestPlay_seesWhatBreaksThrough(t *testing.T) {
	p := named(t, "murmur")
	p.defence = unguarded
	r := measure(t, p).row(p)
	require.True(t, r.Broken())
	require.Contains(t, r.Verdict, "2000 origin calls, at most 10")
}

func TestPlans_thereIsAConditionForEveryAttack(t *testing.T) {
	require.Len(t, conditions, len(hostile.All()))
	for _, p := range Plans() {
		require.Contains(t, conditions, p.Name)
		require.NotNil(t, p.allowed, p.Name)
		require.False(t, p.isBaseline(), p.Name)
	}
	_, err := Named("nonsense")
	require.ErrorContains(t, err, "nonsense")
}
