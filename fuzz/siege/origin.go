package siege

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/fuzz/archive"
)

// A record is what the origin has under a key.
type record struct{ key string }

// origin serves the archive. Each call takes some time, and it can take any number at
// once.
type origin struct {
	archive *archive.Archive
	hostile atomic.Int64 // calls that an attacker's request led to
}

const callTime = time.Millisecond

func (o *origin) load(ctx context.Context, key string) (record, error) {
	if isHostile(ctx) {
		o.hostile.Add(1)
	}
	time.Sleep(callTime)
	if !o.archive.Exists(key) {
		return record{}, earlybird.ErrNotFound
	}
	return record{key}, nil
}

type hostileKey struct{}

// hostileContext is what attackers read with. A load has the values of the context of
// whoever it was begun for.
var hostileContext = context.WithValue(context.Background(), hostileKey{}, true)

func isHostile(ctx context.Context) bool { return ctx.Value(hostileKey{}) != nil }
