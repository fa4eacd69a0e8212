package earlybird

import (
	"context"
	"maps"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/hotkeys"
)

// A key is usually cut out of a request. What is held for long must not keep
// the request in memory.
func TestCache_keepsNoRequestForItsKey(t *testing.T) {
	guard, err := bloom.New(bloom.Options{})
	require.NoError(t, err)
	hot, err := hotkeys.New(hotkeys.Options{})
	require.NoError(t, err)
	c := newCache(t, func(_ context.Context, key string) (string, error) {
		if strings.Contains(key, "absent") {
			return "", ErrNotFound
		}
		return "value", nil
	}, Options[string]{
		TTL: time.Minute, Guard: guard, HotKeys: hot,
		LoadTimeout: time.Second, // a timer that was stopped may be kept until its time
	})
	defer runtime.KeepAlive(c)

	ctx := t.Context()
	ways := map[string]func(key string){
		"loaded": func(key string) {
			for range 10 * sampled {
				_, _ = c.Get(ctx, key)
			}
		},
		"absent":  func(key string) { _, _ = c.Get(ctx, key) },
		"set":     func(key string) { _ = c.Set(ctx, key, "v") },
		"created": func(key string) { _ = c.Created(ctx, key) },
		"many":    func(key string) { _, _ = c.GetMany(ctx, []string{key, key + "absent"}) },
		"gone":    func(key string) { _, _ = c.Get(ctx, key); _ = c.Invalidate(ctx, key) },
	}
	requests := map[string]weak.Pointer[byte]{}
	for way, read := range ways {
		for _, n := range []int{8, nameLen + 8} { // within an entry, and too long for it
			request := way + strings.Repeat("-", 1<<16)
			requests[strings.Clone(request[:n])] = weak.Make(unsafe.StringData(request))
			read(request[:n])
		}
	}
	require.Eventually(t, func() bool {
		runtime.GC()
		maps.DeleteFunc(requests, func(_ string, r weak.Pointer[byte]) bool { return r.Value() == nil })
		return len(requests) == 0
	}, 5*time.Second, time.Millisecond, "kept: %v", requests)
}
