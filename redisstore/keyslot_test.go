package redisstore

import (
	"strconv"
	"strings"
	"testing"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
)

// What the server says about slots is what we say.
func TestKeysOf_agreeWithTheServer(t *testing.T) {
	t.Parallel()
	server := redistest.StartCluster(t, 1, false).Masters[0]
	c, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{server.Addr}, ForceSingleClient: true, DisableCache: true})
	require.NoError(t, err)
	defer c.Close()
	n := newNamespace("eb")
	all := adversarial()
	var commands []rueidis.Completed
	var want []uint16
	ask := func(name string, slot uint16) {
		commands = append(commands, c.B().Arbitrary("CLUSTER", "KEYSLOT").Args(strings.Clone(name)).Build())
		want = append(want, slot)
	}
	const each = 7
	for _, key := range all {
		k := n.changeKeysOf(key)
		for _, name := range []string{key, k.value, k.lease, k.epoch, k.splits} {
			ask(name, k.slot)
		}
		for i := 1; i < 3; i++ {
			c := n.copyOf(key, i, 3)
			ask(c.value, c.slot)
		}
	}
	for at := 0; at < len(commands); at += 500 {
		to := min(at+500, len(commands))
		for i, r := range c.DoMulti(t.Context(), commands[at:to]...) {
			got, err := r.ToInt64()
			require.NoError(t, err)
			if got != int64(want[at+i]) {
				require.Equal(t, want[at+i], got, strconv.Quote(all[(at+i)/each]))
			}
		}
	}
}
