package progress

import (
	"bytes"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMeter_tellsWhatIsLeft(t *testing.T) {
	var played atomic.Int64
	m := &Meter{total: 400, played: &played}
	require.Equal(t, "playing: 0 %", m.line(time.Minute))
	played.Add(100)
	require.Equal(t, "playing: 25 %, 3m0s left", m.line(time.Minute))
	played.Add(300)
	require.Equal(t, "playing: 100 %, 0s left", m.line(time.Minute))
}

func TestMeter_writesALineNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var (
			out    bytes.Buffer
			played atomic.Int64
			team   sync.WaitGroup
		)
		m := Start(&out, 100, &played)
		time.Sleep(20 * time.Second)
		m.Stop()
		require.Empty(t, out.String(), "a short run needs none")

		m = Start(&out, 100, &played)
		for range 50 {
			team.Go(func() { played.Add(1) })
		}
		time.Sleep(61 * time.Second)
		team.Wait()
		m.Stop()
		require.Equal(t, 2, strings.Count(out.String(), "\n"))
		require.Contains(t, out.String(), "playing: 50 %, 30s left\n")
	})
}

func TestMeter_nilIsSilent(t *testing.T) {
	var m *Meter
	m.Stop()
}
