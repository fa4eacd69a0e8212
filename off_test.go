package earlybird

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// What is not to be stored takes the place of what was stored before: nobody is
// served the older value afterwards.
func TestTTLFor_offForgetsWhatWasThere(t *testing.T) {
	for name, replace := range map[string]func(c *Cache[string]){
		"Set": func(c *Cache[string]) { require.NoError(t, c.Set(t.Context(), "k", "secret")) },
		"an early refresh": func(c *Cache[string]) {
			time.Sleep(time.Minute / 2)
			require.Equal(t, Early, mustLookup(t, c, "k").State)
			time.Sleep(2 * time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				value := "public"
				opts := eager[string](time.Minute)
				opts.TTLFor = func(_, v string) time.Duration {
					if v == "secret" {
						return Off
					}
					return 0
				}
				c := newTidy(t, func(context.Context, string) (string, error) {
					time.Sleep(time.Second)
					return value, nil
				}, opts)
				require.Equal(t, "public", mustGet(t, c, "k"))
				value = "secret"
				replace(c)
				_, ok := c.Peek("k")
				require.False(t, ok)
				require.Equal(t, Result[string]{"secret", Loaded, 0}, mustLookup(t, c, "k"))
			})
		})
	}
}
