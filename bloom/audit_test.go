package bloom

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAudit_letsAShareOfRefusalsThrough(t *testing.T) {
	const asked, share = 50_000, 0.1
	g := built(t, Options{FalsePositiveRate: 1e-9, Audit: share, AuditRate: -1}, "product", 1_000)
	passed := asked - refusals(g, "stranger", asked)
	mean := float64(asked * share)
	require.InDelta(t, mean, passed, 5*math.Sqrt(mean))
	s := g.Stats()
	require.EqualValues(t, passed, s.Audited)
	require.EqualValues(t, asked-passed, s.Refused)

	for i := range 100 {
		g.ReportAbsent(name("stranger", i))
	}
	s = g.Stats()
	require.EqualValues(t, 100, s.Confirmed)
	require.Zero(t, s.PassedAbsent, "an audited id is no false positive")
	require.Equal(t, Ready, s.State)
}

func TestAudit_keepsWithinItsBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := built(t, Options{FalsePositiveRate: 1e-9, Audit: 1, AuditRate: 4}, "product", 1_000)
		time.Sleep(time.Hour) // saves nothing up
		for range 40 {
			refusals(g, "stranger", 1_000)
			time.Sleep(250 * time.Millisecond)
		}
		require.EqualValues(t, 40, g.Stats().Audited)
	})
}

func TestAudit_exposesWhatTheSourceForgot(t *testing.T) {
	g := built(t, Options{Audit: 0.1, AuditRate: -1}, "product", 1_000)
	asked := 0
	for g.Stats().State == Ready {
		id := name("forgotten", asked)
		asked++
		if g.MayContain(id) {
			g.ReportFound(id)
		}
		require.Less(t, asked, 1_000, "1/q refusals on average")
	}
	require.Equal(t, Damaged, g.Stats().State)
	require.Zero(t, refusals(g, "forgotten", 1_000))
}

func TestAudit_isSparedInShadow(t *testing.T) {
	g := built(t, Options{Audit: 1, AuditRate: -1, Shadow: true}, "product", 1_000)
	require.Zero(t, refusals(g, "stranger", 1_000))
	require.Zero(t, g.Stats().Audited)
	require.NotZero(t, g.Stats().Refused)
}
