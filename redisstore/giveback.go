package redisstore

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// Leases that nobody holds any more: the caller did not learn that one was granted,
// or could not say that its load is over. Each would keep the whole fleet waiting
// until it ends, which is long after the server is back. They are given back behind
// the callers, as soon as the server takes them.

// mostLeft bounds the leases that are left to be given back.
const mostLeft = 1 << 10

// giveBack gives the lease of key up, sooner or later.
func (t *tier) giveBack(key, token string) {
	t.left.Add([]string{token + "\x00" + key})
}

// giveBackAgain is for the ladder.
func (t *tier) giveBackAgain(ctx context.Context, leases []string) (failed []string) {
	for i, lease := range leases {
		token, key, _ := strings.Cut(lease, "\x00")
		if err := t.giveUp(ctx, key, token, 0); err != nil {
			return leases[i:] // the others would fare no better
		}
	}
	return nil
}

// giveUp gives a lease up. For coolDown nobody gets another.
func (t *tier) giveUp(ctx context.Context, key, token string, coolDown time.Duration) error {
	cool := int64(0)
	if coolDown > 0 {
		cool = milliseconds(min(coolDown, longest))
	}
	m, err := t.run(ctx, failScript, t.namespace.keysOf(key), t.WriteTimeout, token, strconv.FormatInt(cool, 10))
	_, err = yes(m, err)
	return err
}
