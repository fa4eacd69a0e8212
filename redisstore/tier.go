package redisstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"github.com/earlybird-cache/earlybird/internal/burial"
	"github.com/earlybird-cache/earlybird/internal/bus"
	"github.com/earlybird-cache/earlybird/internal/ladder"
	"github.com/earlybird-cache/earlybird/internal/tally"
	"github.com/earlybird-cache/earlybird/internal/watches"
	"github.com/earlybird-cache/earlybird/store"
)

// tier is everything of a Store that does not depend on the type of its values:
// the connection, its breakers, and what goes on behind the callers.
type tier struct {
	Options[struct{}]
	namespace namespace
	link      *link
	lanes     [lanes]lane
	inFlight  atomic.Int64
	tally     tally.Tally
	overdue   *ladder.Ladder // invalidations
	left      *ladder.Ladder // leases
	debts     *burial.Debts
	waiters   waiters
	watches   *watches.List
	bus       *bus.Bus
	began     time.Time

	ctx  context.Context // ends with Close
	stop context.CancelFunc

	mu      sync.Mutex
	over    bool
	probing bool
	behind  sync.WaitGroup // what runs behind the callers
}

func newTier(o Options[struct{}], p place) *tier {
	t := &tier{Options: o, namespace: newNamespace(o.Namespace), began: time.Now()}
	t.ctx, t.stop = context.WithCancel(context.Background())
	t.doubt()
	t.waiters.of = make(map[string]map[*waiter]struct{})
	t.watches = watches.New(max(o.MaxWatched, 0))
	t.bus = bus.New(newBusServer(t))
	t.overdue = ladder.New(ladder.Options{
		Try:   t.forgetAgain,
		Rungs: []time.Duration{time.Second, 5 * time.Second, time.Minute},
		Pulse: longestPause,
		Bound: o.MaxPending,
		Batch: batch,
	})
	t.left = ladder.New(ladder.Options{
		Try:   t.giveBackAgain,
		Rungs: []time.Duration{time.Millisecond, 100 * time.Millisecond, time.Second, 5 * time.Second, time.Minute},
		Pulse: longestPause,
		Bound: mostLeft,
		Batch: batch,
	})
	t.debts = burial.New(burial.Options{Bury: t.buryAgain, Bound: o.MaxPending, Batch: batch})
	t.link = &link{
		place:   p,
		limit:   replyLimit(o.MaxBytes),
		dialer:  o.Dial,
		crowded: func() bool { return t.inFlight.Load() > 1 },
		refused: func(err error) {
			t.tally.RefusedReplies.Add(1)
			t.log(slog.LevelWarn, "the server broke the protocol", err)
		},
		moved: t.moved,
		gone:  t.doubt,
		first: make(chan struct{}),
		conns: make(map[*guarded]struct{}),
	}
	t.link.ctx, t.link.stop = context.WithCancel(context.Background())
	t.link.options = t.clientOptions(p)
	t.link.done.Go(func() { t.link.connect(t.isBack) })
	return t
}

// replyLimit is what one reply may make the client library allocate: a value
// with its frame, or a description of a large Cluster.
func replyLimit(maxBytes int) int64 { return 2*int64(maxBytes) + 16<<20 }

// clientOptions are those of the client library. Its defaults are not for a read
// path: it would retry until the deadline, and take ten seconds to notice that a
// server has gone silent.
func (t *tier) clientOptions(p place) rueidis.ClientOption {
	o := rueidis.ClientOption{
		InitAddress:         p.addrs,
		Username:            p.username,
		Password:            p.password,
		SelectDB:            p.db,
		ClientName:          t.ClientName,
		ClientSetInfo:       rueidis.DisableClientSetInfo,
		DialCtxFn:           t.link.dial,
		OnInvalidations:     t.pushed,
		DisableRetry:        true,
		PipelineMultiplex:   -1,      // one connection to a server, so that later calls come later
		CacheSizeEachConn:   1 << 10, // nothing is kept in it
		ReadBufferEachConn:  64 << 10,
		WriteBufferEachConn: 64 << 10,
		ConnWriteTimeout:    max(400*time.Millisecond, t.WriteTimeout),
		MaxFlushDelay:       max(t.FlushDelay, 0),
		ClusterOption: rueidis.ClusterOption{
			ShardsRefreshInterval: 2 * time.Second,
			MaxMovedRedirections:  3,
		},
	}
	o.Dialer.Timeout = t.ConnectTimeout
	o.Dialer.KeepAlive = 200 * time.Millisecond // after which an idle connection is asked
	if t.Credentials != nil {
		o.AuthCredentialsFn = func(rueidis.AuthCredentialsContext) (rueidis.AuthCredentials, error) {
			username, password, err := t.Credentials()
			return rueidis.AuthCredentials{Username: username, Password: password}, err
		}
	}
	return o
}

func (t *tier) now() int64 { return int64(time.Since(t.began)) }

// laneOf returns the lane of a slot.
func (t *tier) laneOf(c *client, slot uint16) *lane {
	if !c.cluster {
		return &t.lanes[0]
	}
	return &t.lanes[slot/(slots/lanes)]
}

// start runs f behind the callers until it returns, unless the tier is closed.
func (t *tier) start(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return false
	}
	t.behind.Go(f)
	return true
}

func (t *tier) log(level slog.Level, message string, err error) {
	if t.Logger != nil {
		t.Logger.Log(t.ctx, level, "redisstore: "+message, "namespace", t.Namespace, "error", err)
	}
}

// stats returns the figures.
func (t *tier) stats() store.Stats {
	s := t.tally.Stats()
	s.Pending, s.Retried, s.GivenUp = t.overdue.Counts()
	s.Watched, s.Changes, s.Losses = t.watches.Counts()
	owed, done, givenUp := t.debts.Counts()
	s.Pending, s.Retried, s.GivenUp = s.Pending+owed, s.Retried+done, s.GivenUp+givenUp
	s.Told, s.Heard, s.Gaps, s.Deaf = t.bus.Counts()
	s.Parts = 1
	c := t.link.client.Load()
	switch {
	case c == nil:
		s.Open = 1
		if err := t.link.lastErr.Load(); err != nil && s.LastError == "" {
			s.LastError = (*err).Error()
		}
		return s
	case c.cluster:
		s.Parts = lanes
	}
	for i := range t.lanes {
		if t.lanes[i].state.Load() == open {
			s.Open++
		}
	}
	return s
}

// close ends everything.
func (t *tier) close() {
	t.watches.Close()
	t.leaveBus()
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	t.stop()
	t.waiters.push(nil)
	t.link.close()
	t.overdue.Close()
	t.left.Close()
	t.debts.Close()
	t.behind.Wait()
}

// leaveBus says goodbye, for which there is a moment.
func (t *tier) leaveBus() {
	ctx, cancel := context.WithTimeout(context.Background(), t.WriteTimeout)
	defer cancel()
	t.bus.Close(ctx)
}

// usable returns why a call should not be made at all.
func (t *tier) usable(ctx context.Context) error {
	if t.ctx.Err() != nil {
		return store.ErrClosed
	}
	return ctx.Err()
}

var (
	errNotConnected = fmt.Errorf("%w: not connected yet", tally.ErrSkipped)
	errOpen         = fmt.Errorf("%w: it failed too often", tally.ErrSkipped)
	errTooMany      = fmt.Errorf("%w: too many calls wait for it", tally.ErrSkipped)
	errNonsense     = fmt.Errorf("%w: reply of the wrong type", store.ErrUnavailable)
)

// refusal turns a server's error reply into an error of the tier.
func refusal(err error) error {
	if err == nil || errors.Is(err, store.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
}
