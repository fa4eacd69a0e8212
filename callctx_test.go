package earlybird

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a loader derives from its context ends when that does and for the same
// reason, whoever ends it, and has no goroutine to wait for it.
func TestLoader_derivedContextsEndWithItsOwn(t *testing.T) {
	for name, tt := range map[string]struct {
		end  func(c *Cache[string]) error
		want error
	}{
		"timeout": {func(*Cache[string]) error { time.Sleep(time.Second); return nil }, context.DeadlineExceeded},
		"close":   {(*Cache[string]).Close, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const many = 50
				var own context.Context
				var derived []context.Context
				var called atomic.Int64
				opts := plain[string](time.Hour)
				opts.LoadTimeout = time.Second
				c := newTidy(t, func(ctx context.Context, _ string) (string, error) {
					own = ctx
					before := runtime.NumGoroutine()
					for range many {
						child, cancel := context.WithTimeout(ctx, time.Hour)
						defer cancel()
						derived = append(derived, child)
					}
					assert.Less(t, runtime.NumGoroutine(), before+many/2)
					stopped := context.AfterFunc(ctx, func() { called.Add(100) })
					assert.True(t, stopped())
					context.AfterFunc(ctx, func() { called.Add(1) })
					for _, child := range derived {
						<-child.Done()
					}
					return "", ctx.Err()
				}, opts)
				asker, leave := context.WithCancelCause(t.Context())
				go func() { _, _ = c.Get(asker, "k") }()
				synctest.Wait()
				leave(errors.New("the asker's own"))
				synctest.Wait()
				require.NoError(t, own.Err())
				require.NoError(t, context.Cause(own))

				require.NoError(t, tt.end(c))
				synctest.Wait()
				for _, ctx := range append(derived, own) {
					require.Equal(t, tt.want, ctx.Err())
					require.Equal(t, tt.want, context.Cause(ctx))
				}
				require.EqualValues(t, 1, called.Load())
				late := context.AfterFunc(own, func() { called.Add(1) })
				synctest.Wait()
				require.False(t, late())
				require.EqualValues(t, 2, called.Load())
			})
		})
	}
}

// The context of a load that has returned ends, for whatever it has left running.
func TestLoader_contextEndsWithTheLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var own, derived context.Context
		c := newTidy(t, func(ctx context.Context, _ string) (string, error) {
			own = ctx
			var cancel context.CancelFunc
			derived, cancel = context.WithCancel(ctx)
			t.Cleanup(cancel)
			return "v", nil
		}, plain[string](time.Hour))
		require.Equal(t, "v", mustGet(t, c, "k"))
		synctest.Wait()
		<-own.Done()
		<-derived.Done()
		require.Equal(t, context.Canceled, own.Err())
		require.Equal(t, context.Canceled, derived.Err())
	})
}
