package redisstore_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/internal/standstill"
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

// inTime runs f, which must not take longer than d. What the process stood still
// meanwhile may have held up each of those whose turn it was: the caller, who writes,
// who reads, and the server, which had to wait like this process.
func inTime(t testing.TB, d time.Duration, f func()) {
	t.Helper()
	w := standstill.Begin()
	f()
	took, sum, _ := w.End()
	require.LessOrEqual(t, took, d+4*sum, "stood still for %v of it", sum)
}

// brief is how long the process may stand still while what brisk stores do is judged:
// a call has several turns, and all of them together its budget.
const brief = 20 * time.Millisecond

const long = time.Minute

func value(s string) store.Record[string] {
	return store.Record[string]{Kind: store.Value, Value: s, Life: long}
}

// eventually waits until f succeeds.
func eventually(t testing.TB, f func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if err = f(); err == nil {
			return
		}
	}
	require.NoError(t, err)
}

// says is nil once what was wrong last with s is what.
func says(s store.Store[string], what string) error {
	if last := s.Stats().LastError; !strings.Contains(last, what) {
		return fmt.Errorf("%q was wrong last, not %q", last, what)
	}
	return nil
}

func set(t testing.TB, s store.Store[string], key, v string) {
	t.Helper()
	eventually(t, func() error { _, err := s.Set(t.Context(), key, value(v)); return err })
}

// finds is nil once s finds v under key.
func finds(t testing.TB, s store.Store[string], key, v string) error {
	r, err := s.Get(t.Context(), key)
	if err == nil && r.Value != v {
		err = fmt.Errorf("found %v %q, not %q", r.Kind, r.Value, v)
	}
	return err
}

// tagOf finds out which tag a key has.
func tagOf(t testing.TB, server *redistest.Server, key string) string {
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
