package fleet

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
)

// Copies spread the load of a hot key evenly over the masters, one in memory takes it
// away, and neither is served for long once the key has changed.
func TestHot_whatIsDoneShowsAtTheMasters(t *testing.T) {
	s := small
	s.Rate = 2000
	rows := map[string]HotRow{}
	for _, row := range play(t, s, scene{reads: hotReads, cluster: true, play: func(ctx context.Context, r *run) error {
		for _, x := range s.hotRungs() {
			if x.name == "NearTTL 1s" {
				continue
			}
			row, err := r.playHotRung(ctx, x)
			if err != nil {
				return err
			}
			r.report.Hot = append(r.report.Hot, row)
		}
		return nil
	}}).Hot {
		t.Logf("%+v", row)
		require.Zero(t, row.Errors, row.FirstError)
		require.Len(t, row.Masters, masters)
		require.InDelta(t, hotShare*s.Rate*s.Duration.Seconds(), row.HotReads, 300)
		require.GreaterOrEqual(t, row.Changes, 2)
		rows[row.Name] = row
	}
	require.Greater(t, rows["nothing"].Busiest, 0.8)
	require.Zero(t, rows["nothing"].HotIn)

	require.Equal(t, s.Instances, rows["promotion"].HotIn)
	require.NotNil(t, rows["promotion"].HotAfter)
	require.Greater(t, rows["promotion"].InProcess, 0.95)
	require.Less(t, rows["promotion"].Masters[0].Questions, rows["nothing"].Masters[0].Questions/4)

	require.Equal(t, s.Instances, rows[split].HotIn)
	require.LessOrEqual(t, rows[split].Busiest, 0.40)
	for _, row := range rows {
		require.Zero(t, row.Flaps)
		if row.LateP99 < 10 { // else the machine stood still, and told and asked late
			require.Less(t, row.Stale.P99, 50.0, row.Name)
		}
	}
}

func TestHot_needsACluster(t *testing.T) {
	server := redistest.Start(t)
	code, stdout, stderr := command("-hot", "-redis", "redis://"+server.Addr)
	require.Equal(t, 1, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "-hot needs a Cluster")
}

func TestChanges_staleIsCountedFromTheirReturn(t *testing.T) {
	at := func(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }
	saw := func(instance, began, version int) sighting {
		return sighting{instance, at(began), value{Key: "k", Version: version}}
	}
	var c changes
	c.returned(at(100))
	c.returned(at(200))
	for _, s := range []sighting{
		saw(0, 99, 0), saw(0, 110, 0), saw(0, 105, 0), saw(0, 120, 1), // the first change late by 10 ms
		saw(1, 100, 0), saw(1, 150, 1), saw(1, 230, 0), // and both, by 130 and 30
		{0, at(300), value{Key: "other"}},
	} {
		c.saw(s)
	}
	require.Equal(t, []int32{10_000, 130_000, 0, 30_000}, c.stale("k", 2))
	require.Equal(t, 4, c.readsOf("k", &stretch{from: at(100), to: at(121)}))
	require.Equal(t, 2, c.count())
}
