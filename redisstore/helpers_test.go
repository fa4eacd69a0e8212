package redisstore_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/redisstore"
	"github.com/earlybird-cache/earlybird/store"
)

// brisk are options for a server that will fail.
func brisk(addrs ...string) redisstore.Options[string] {
	return redisstore.Options[string]{Addrs: addrs, Timeout: 200 * time.Millisecond, WriteTimeout: 200 * time.Millisecond, ConnectTimeout: time.Second}
}

// soon is far above every budget and far below what the client library would
// take if it were left to itself.
const soon = 2500 * time.Millisecond

const long = time.Minute

func value(s string) store.Record[string] {
	return store.Record[string]{Kind: store.Value, Value: s, Life: long}
}

// eventually waits until f succeeds.
func eventually(t *testing.T, f func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if err = f(); err == nil {
			return
		}
	}
	require.NoError(t, err)
}

func set(t *testing.T, s store.Store[string], key, v string) {
	t.Helper()
	eventually(t, func() error { _, err := s.Set(t.Context(), key, value(v)); return err })
}

// finds is nil once s finds v under key.
func finds(t *testing.T, s store.Store[string], key, v string) error {
	r, err := s.Get(t.Context(), key)
	if err == nil && r.Value != v {
		err = fmt.Errorf("found %v %q, not %q", r.Kind, r.Value, v)
	}
	return err
}

// tagOf finds out which tag a key has.
func tagOf(t *testing.T, server *redistest.Server, key string) string {
	t.Helper()
	for name := range strings.SplitSeq(server.Do("KEYS", "eb:*"), "\n") {
		if _, rest, ok := strings.Cut(name, "{"); ok {
			tag, k, _ := strings.Cut(rest, "}")
			if k == key {
				return tag
			}
		}
	}
	return "evicted"
}
