package storetest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/store"
)

var crowds = []promise{
	{"NobodySeesWhatWasBeforeAChange", nobodySeesThePast, anyLease},
}

// row is a row of the origin in a crowd's test.
type row struct {
	key       string
	version   atomic.Int64  // at the origin
	confirmed atomic.Int64  // nobody who starts now may see an older one
	changing  chan struct{} // one writer at a time; a mutex would hold up virtual time
}

// crowd is many who load, read and change a few rows at once.
type crowd struct {
	*tier
	rows    []*row
	clients []store.Store[*Item]
}

func nobodySeesThePast(x *tier) {
	seed := rand.Uint64()
	x.Logf("seed %d", seed)
	c := &crowd{tier: x, clients: []store.Store[*Item]{x.a, x.b, x.client()}}
	for i := range 4 {
		c.rows = append(c.rows, &row{key: fmt.Sprint("row", i), changing: make(chan struct{}, 1)})
	}
	rounds := 150
	if x.suite.Virtual {
		rounds = 1000
	}
	var wg sync.WaitGroup
	for who := range 12 {
		rng := rand.New(rand.NewPCG(seed, uint64(who)))
		client := c.clients[who%len(c.clients)]
		wg.Go(func() {
			for range rounds {
				c.step(rng, client, c.rows[rng.IntN(len(c.rows))])
			}
		})
	}
	wg.Wait()
	if !x.Failed() {
		c.quiet()
	}
}

func (c *crowd) step(rng *rand.Rand, s store.Store[*Item], r *row) {
	switch p := rng.IntN(1000); {
	case p < 500:
		c.read(s, r)
	case p < 850:
		c.fill(rng, s, r)
	case p < 930:
		c.change(r, func(int64) error { return s.Invalidate(c.Context(), r.key) })
	case p < 997:
		c.change(r, func(v int64) error { _, err := s.Set(c.Context(), r.key, versioned(v)); return err })
	default:
		c.changeAll(s)
	}
}

func versioned(v int64) store.Record[*Item] {
	return store.Record[*Item]{Kind: store.Value, Value: &Item{Number: v}, Life: long}
}

func (c *crowd) read(s store.Store[*Item], r *row) {
	least := r.confirmed.Load()
	one, err := s.Get(c.Context(), r.key)
	if err != nil {
		c.Errorf("Get: %v", err)
		return
	}
	two := s.GetMany(c.Context(), []string{r.key})[0]
	if two.Err != nil {
		c.Errorf("GetMany: %v", two.Err)
		return
	}
	c.judge("Get", r, one, least)
	c.judge("GetMany", r, two.Record, least)
	if two.Generation < one.Generation {
		c.Errorf("%s went back from generation %d to %d", r.key, one.Generation, two.Generation)
	}
}

func (c *crowd) judge(how string, r *row, found store.Record[*Item], least int64) {
	if found.Kind == store.Value && found.Value.Number < least {
		c.Errorf("%s of %s found version %d after %d was confirmed", how, r.key, found.Value.Number, least)
	}
}

// fill loads a row as a cache does: sometimes slowly, sometimes in vain.
func (c *crowd) fill(rng *rand.Rand, s store.Store[*Item], r *row) {
	least := r.confirmed.Load()
	var have store.Generation
	if rng.IntN(4) > 0 {
		known, err := s.Get(c.Context(), r.key)
		if err != nil {
			c.Errorf("Get: %v", err)
			return
		}
		have = known.Generation
	}
	claim, err := s.Acquire(c.Context(), r.key, have, long)
	if err != nil {
		c.Errorf("Acquire: %v", err)
		return
	}
	if claim.Outcome == store.Found {
		c.judge("Acquire", r, claim.Record, least)
	}
	if claim.Outcome != store.Granted {
		return
	}
	version := r.version.Load()
	if rng.IntN(3) == 0 {
		time.Sleep(time.Duration(1 + rng.IntN(int(time.Millisecond))))
	}
	if rng.IntN(10) == 0 {
		err = s.Fail(c.Context(), claim.Lease, 0)
	} else {
		err = s.Publish(c.Context(), claim.Lease, versioned(version))
	}
	if err != nil && err != store.ErrLost {
		c.Errorf("Publish, Fail: %v", err)
	}
}

func (c *crowd) change(r *row, tell func(version int64) error) {
	r.changing <- struct{}{}
	defer func() { <-r.changing }()
	v := r.version.Add(1)
	if err := tell(v); err != nil {
		c.Errorf("change: %v", err)
		return
	}
	r.confirmed.Store(v)
}

func (c *crowd) changeAll(s store.Store[*Item]) {
	var versions []int64
	for _, r := range c.rows {
		r.changing <- struct{}{}
		defer func() { <-r.changing }()
		versions = append(versions, r.version.Add(1))
	}
	if err := s.InvalidateAll(c.Context()); err != nil {
		c.Errorf("InvalidateAll: %v", err)
		return
	}
	for i, r := range c.rows {
		r.confirmed.Store(versions[i])
	}
}

// quiet: when all is quiet everything can be loaded, and everybody sees it.
func (c *crowd) quiet() {
	for _, r := range c.rows {
		require.NoError(c, c.clients[0].Invalidate(c.Context(), r.key))
		c.load(c.clients[1], r.key, versioned(r.version.Load()))
		for _, s := range c.clients {
			require.Equal(c, r.version.Load(), c.get(s, r.key).Value.Number)
		}
	}
}
