package storetest

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/store"
)

// Item is the type of the values that a Suite stores, by pointer. A nil *Item is
// one of them.
type Item struct {
	Text   string
	Number int64
	Tags   []string
}

// CloneItem returns a copy of i that shares nothing with it.
func CloneItem(i *Item) *Item {
	if i == nil {
		return nil
	}
	c := *i
	c.Tags = slices.Clone(i.Tags)
	return &c
}

// Suite is what every implementation of store.Store must pass. The promises of
// store.Watcher, store.Bus and store.Blobs are for those that are one.
type Suite struct {
	// Open makes an empty tier and returns a function that makes another client
	// of it each time. What it starts, it ends in t.Cleanup.
	Open func(t *testing.T) (client func() store.Store[*Item])

	// SharedLeases says that the tier shares leases.
	SharedLeases bool

	// Unwatched says that the tier, although it is a store.Watcher, has no way to
	// tell what changes.
	Unwatched bool

	// Virtual runs each test in a testing/synctest bubble of its own, Open
	// included.
	Virtual bool
}

// promise is one test of a Suite.
type promise struct {
	name string
	keep func(*tier)
	when lease
}

// lease says for which kind of leases a promise is made.
type lease int

const (
	anyLease lease = iota
	exclusive
	shared
)

// Run runs the suite.
func (s Suite) Run(t *testing.T) {
	for _, p := range slices.Concat(records, ends, leases, changes, waiting, watching, telling, keeping, crowds, copies) {
		if p.when == exclusive && s.SharedLeases || p.when == shared && !s.SharedLeases {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			if s.Virtual {
				synctest.Test(t, func(t *testing.T) { p.keep(s.open(t)) })
				return
			}
			p.keep(s.open(t))
		})
	}
}

// tier is a test's tier and two clients of it.
type tier struct {
	*testing.T
	suite  Suite
	client func() store.Store[*Item]
	a, b   store.Store[*Item]
}

func (s Suite) open(t *testing.T) *tier {
	x := &tier{T: t, suite: s}
	open := s.Open(t)
	x.client = func() store.Store[*Item] {
		c := open()
		t.Cleanup(func() { c.Close() })
		return c
	}
	x.a, x.b = x.client(), x.client()
	return x
}

const (
	long    = time.Minute           // a life that no test outlasts
	short   = 30 * time.Millisecond // one that every test can wait for
	patient = 20 * time.Second      // for what happens at once on a quiet machine
)

// eventually waits until ok.
func (x *tier) eventually(ok func() bool, what string) {
	x.Helper()
	for deadline := time.Now().Add(patient); !ok(); time.Sleep(2 * time.Millisecond) {
		require.True(x, time.Now().Before(deadline), what)
	}
}

func valueOf(text string) store.Record[*Item] {
	return store.Record[*Item]{Kind: store.Value, Value: &Item{Text: text}, Life: long}
}

func (x *tier) get(s store.Store[*Item], key string) store.Record[*Item] {
	x.Helper()
	r, err := s.Get(x.Context(), key)
	require.NoError(x, err)
	return r
}

func (x *tier) acquire(s store.Store[*Item], key string, have store.Generation, life time.Duration) store.Claim[*Item] {
	x.Helper()
	c, err := s.Acquire(x.Context(), key, have, life)
	require.NoError(x, err)
	return c
}

// grant acquires a lease that must be granted.
func (x *tier) grant(s store.Store[*Item], key string, have store.Generation, life time.Duration) store.Lease {
	x.Helper()
	c := x.acquire(s, key, have, life)
	require.Equal(x, store.Granted, c.Outcome)
	require.Equal(x, key, c.Lease.Key)
	require.NotZero(x, c.Lease.Generation)
	return c.Lease
}

// load publishes r under key the way a cache does.
func (x *tier) load(s store.Store[*Item], key string, r store.Record[*Item]) store.Lease {
	x.Helper()
	l := x.grant(s, key, 0, long)
	require.NoError(x, s.Publish(x.Context(), l, r))
	return l
}
