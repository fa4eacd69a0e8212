package earlybird

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOnError_hearsOfFailuresAndMayPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var events []Event
		down := errors.New("down")
		opts := eager[string](time.Minute)
		opts.Name = "users"
		opts.OnError = func(e Event) {
			mu.Lock()
			events = append(events, e)
			mu.Unlock()
			panic("hook")
		}
		var calls atomic.Int64
		c := newTidy(t, func(context.Context, string) (string, error) {
			time.Sleep(time.Second)
			if calls.Add(1) == 2 {
				return "v", nil
			}
			return "", down
		}, opts)
		_, err := c.Get(t.Context(), "k")
		require.ErrorIs(t, err, down)
		mustGet(t, c, "k")
		time.Sleep(59 * time.Second)
		mustGet(t, c, "k")
		time.Sleep(2 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		require.Equal(t, []Event{
			{Cache: "users", Key: "k", Err: down},
			{Cache: "users", Key: "k", Refresh: true, Err: down},
		}, events)
	})
}
