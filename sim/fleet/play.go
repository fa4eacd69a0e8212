package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/earlybird-cache/earlybird/sim/workload"
)

// stretch is a part of a play.
type stretch struct {
	lasts time.Duration
	first func() error // runs beside the reads from when the stretch begins; nil: nothing

	tally    tally // of the reads that were due in it
	from, to time.Duration
}

// play reads from the caches by a schedule that is fixed beforehand, whatever becomes
// of the reads, through the stretches one after the other, and returns when the last
// read has ended.
func (c *caches) play(ctx context.Context, s Setup, played *atomic.Int64, stretches ...*stretch) error {
	start := c.origin.now() + 10*time.Millisecond
	var end time.Duration
	for _, x := range stretches {
		x.from, x.to = start+end, start+end+x.lasts
		end += x.lasts
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return c.dispatch(ctx, s, played, stretches) })
	for _, x := range stretches {
		if x.first != nil {
			group.Go(func() error {
				if err := wait(ctx, x.from-c.origin.now()); err != nil {
					return err
				}
				return x.first()
			})
		}
	}
	return group.Wait()
}

// dispatch gives each read, when it is due, a goroutine of its own.
func (c *caches) dispatch(ctx context.Context, s Setup, played *atomic.Int64, stretches []*stretch) error {
	runtime.LockOSThread() // which may sleep as exactly as it can
	defer runtime.UnlockOSThread()
	var readers sync.WaitGroup
	defer readers.Wait()
	rng := rand.New(rand.NewPCG(s.Seed, 0xf1ee7))
	start, last := stretches[0].from, len(stretches)-1
	now := 0
	for r := range s.stream(stretches[last].to - start).Requests() {
		due := start + r.At
		for now <= last && due >= stretches[now].to {
			now++
		}
		if now > last {
			break
		}
		if err := c.sleepUntil(ctx, due); err != nil {
			return err
		}
		into, instance := &stretches[now].tally, rng.IntN(len(c.cache))
		readers.Go(func() {
			into.add(c.read(ctx, due, instance, r.Key))
			played.Add(1)
		})
	}
	return nil
}

// stream is more than enough reads for so long.
func (s Setup) stream(length time.Duration) *workload.Stream {
	n := int(1.5*s.Rate*length.Seconds()) + 100
	mix := workload.Mix{Seed: s.Seed, Rate: s.Rate}
	if s.crowded {
		return workload.Crowd(workload.Catalogue(1+bystanders, s.Seed), hotShare, n, mix)
	}
	return workload.Zipf(workload.Catalogue(s.Keys, s.Seed), 1, n, mix)
}

// sleepUntil sleeps until the run's clock shows at.
func (c *caches) sleepUntil(ctx context.Context, at time.Duration) error {
	for left := at - c.origin.now(); left > 0; left = at - c.origin.now() {
		sleep(min(left, 50*time.Millisecond)) // to hear of ctx
		if ctx.Err() != nil {
			break
		}
	}
	return ctx.Err()
}

var errWrong = errors.New("the value of another key")

// read reads key on one instance and tells what that was like.
func (c *caches) read(ctx context.Context, due time.Duration, instance int, key string) reading {
	began := c.origin.now()
	v, err := c.cache[instance].Get(ctx, key)
	ended := c.origin.now()
	if c.saw != nil && err == nil {
		c.saw(sighting{instance, began, v})
	}
	if err == nil && v.Key != key {
		err = fmt.Errorf("%w: %q for %q", errWrong, v.Key, key)
	}
	waited := err == nil && v.Ready > began
	return reading{
		late: began - due, took: ended - due, err: err,
		waited: waited, woken: waited && v.From != instance, woke: ended - v.Ready,
	}
}
