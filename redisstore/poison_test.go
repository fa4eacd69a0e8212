package redisstore_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/redisstore"
	"github.com/earlybird-cache/earlybird/store"
)

type user struct {
	Name string
	Age  int
}

// trusting is a codec as many are written: it trusts its data, and that it is
// never given certain values.
type trusting struct{ id byte }

func (c trusting) ID() byte { return c.id }

func (trusting) Append(b []byte, u user) ([]byte, error) {
	return append(b, u.Name[0]), nil
}

func (trusting) Decode(data []byte) (user, error) {
	return user{Name: string(data[:1:1]), Age: int(data[100])}, nil
}

// write has another program store a value under "key" and an absence under "none".
func write[V any](t *testing.T, opts redisstore.Options[V], v V) {
	t.Helper()
	s := open(t, opts)
	for _, key := range []string{"key", "none"} {
		kind := store.Value
		if key == "none" {
			kind = store.Absent
		}
		_, err := s.Set(t.Context(), key, store.Record[V]{Kind: kind, Value: v, Life: long})
		require.NoError(t, err)
	}
}

// What is intact and cannot be used all the same is a miss, is counted, and is
// overwritten by the next load, whoever wrote it: an older or a newer program,
// one with other limits, one whose codec is at fault.
func TestStore_unusableValuesReloadAndAreOverwritten(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	ours := patient[user](server.Addr)
	for what, poison := range map[string]struct {
		write func(t *testing.T)
		opts  func(*redisstore.Options[user])
	}{
		"another type of a field": {write: func(t *testing.T) {
			write(t, patient[struct{ Name, Age string }](server.Addr), struct{ Name, Age string }{"x", "old"})
		}},
		"another type altogether": {write: func(t *testing.T) { write(t, patient[[]int](server.Addr), []int{1, 2}) }},
		"another codec":           {write: func(t *testing.T) { write(t, patient[string](server.Addr), "x") }},
		"larger than allowed": {
			write: func(t *testing.T) { write(t, ours, user{Name: strings.Repeat("x", 2000)}) },
			opts:  func(o *redisstore.Options[user]) { o.MaxBytes = 1000 },
		},
		"larger than allowed, not packed": {
			write: func(t *testing.T) {
				o := ours
				o.CompressAbove = -1
				write(t, o, user{Name: strings.Repeat("x", 2000)})
			},
			opts: func(o *redisstore.Options[user]) { o.MaxBytes = 1000 },
		},
		"a codec that panics": {
			write: func(t *testing.T) {
				o := ours
				o.Codec = trusting{77}
				write(t, o, user{Name: "x"})
			},
			opts: func(o *redisstore.Options[user]) { o.Codec = decodes{trusting{77}} },
		},
		"a compressed block cut short": {write: func(t *testing.T) {
			write(t, ours, user{Name: strings.Repeat("x", 2000)})
			name := "eb:v:{" + tagOf(t, server, "key") + "}key"
			raw := []byte(server.Do("GET", name))
			body := raw[36 : len(raw)-8-5] // its head, and its checksum
			raw = binary.BigEndian.AppendUint64(raw[:36+len(body)], xxhash.Sum64(body))
			server.Do("SET", name, string(raw), "PX", "60000")
		}},
	} {
		t.Run(what, func(t *testing.T) {
			server.Do("FLUSHALL")
			poison.write(t)
			opts := ours
			if poison.opts != nil {
				poison.opts(&opts)
			}
			s, other := open(t, opts), open(t, opts)
			requireUnusable(t, s, other)
		})
	}
}

// decodes is trusting for what is poisoned, and works for what it writes itself.
type decodes struct{ trusting }

func (d decodes) Append(b []byte, u user) ([]byte, error) {
	return append(append(b, u.Name...), make([]byte, 100)...), nil
}

func (d decodes) Decode(data []byte) (user, error) {
	_, err := d.trusting.Decode(data)
	return user{Name: strings.TrimRight(string(data), "\x00")}, err
}

func requireUnusable(t *testing.T, s, other *redisstore.Store[user]) {
	t.Helper()
	good := store.Record[user]{Kind: store.Value, Value: user{Name: "good"}, Life: long}
	for n, look := range []func() (store.Record[user], error){
		func() (store.Record[user], error) { return s.Get(t.Context(), "key") },
		func() (store.Record[user], error) {
			r := s.GetMany(t.Context(), []string{"none", "key"})
			require.Equal(t, store.Absent, r[0].Kind, "others are as they were")
			return r[1].Record, r[1].Err
		},
	} {
		r, err := look()
		require.NoError(t, err)
		require.Equal(t, store.Missing, r.Kind)
		require.EqualValues(t, n+1, s.Stats().Damaged)
	}
	claim, err := s.Acquire(t.Context(), "key", 0, long)
	require.NoError(t, err)
	require.Equal(t, store.Granted, claim.Outcome)
	require.NoError(t, s.Publish(t.Context(), claim.Lease, good))
	for _, s := range []*redisstore.Store[user]{s, other} {
		r, err := s.Get(t.Context(), "key")
		require.NoError(t, err)
		require.Equal(t, good.Value, r.Value)
	}
	require.Zero(t, other.Stats().Damaged)
	require.Zero(t, s.Stats().Opened)
}

// A value that a codec chokes on is refused, and the lease can still be used.
func TestStore_codecsMayPanic(t *testing.T) {
	t.Parallel()
	opts := patient[user](redistest.Start(t).Addr)
	opts.Codec = trusting{77}
	s := open(t, opts)
	claim, err := s.Acquire(t.Context(), "key", 0, long)
	require.NoError(t, err)
	bad := store.Record[user]{Kind: store.Value, Life: long}
	var refused *store.ValueError
	require.ErrorAs(t, s.Publish(t.Context(), claim.Lease, bad), &refused)
	require.ErrorContains(t, refused.Err, "panicked")
	_, err = s.Set(t.Context(), "key", bad)
	require.ErrorAs(t, err, &refused)
	require.EqualValues(t, 2, s.Stats().RefusedValues)
	require.False(t, errors.Is(err, store.ErrUnavailable))
	bad.Value.Name = "x"
	require.NoError(t, s.Publish(t.Context(), claim.Lease, bad))
}
