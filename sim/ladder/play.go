package ladder

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/sim/bubble"
	"github.com/earlybird-cache/earlybird/sim/origin"
	"github.com/earlybird-cache/earlybird/sim/workload"
)

// A play is one rung while the stream is played on it.
type play struct {
	Setup
	population *workload.Population
	origin     *origin.Origin
	cache      *cache
	reader     reader
	episodes   *episodes
	tally      tally

	start   time.Time
	clients sync.WaitGroup        // who wait
	broken  atomic.Pointer[error] // a client's panic
}

// play plays the stream on rung i, in the bubble it is called in.
func (s Setup) play(i int, played *atomic.Int64) (Row, error) {
	p := &play{Setup: s, population: s.Stream.Population, start: time.Now()}
	p.origin = origin.New(s.Origin, p.population.Exists, s.Seed)
	p.episodes = newEpisodes(len(p.population.Keys()))
	var err error
	if p.cache, err = earlybird.New(p.load, s.optionsOf(i)); err != nil {
		return Row{}, err
	}
	p.reader = rungs[i].read(p.cache, p.load)

	p.requests(played)
	p.clients.Wait()
	if err := p.cache.Close(); err != nil {
		return Row{}, err
	}
	if err := p.broken.Load(); err != nil {
		return Row{}, *err
	}
	return p.row(rungs[i].name), nil
}

// requests lets every request of the stream happen at its time. What is near is
// answered here and now; who has to wait gets a goroutine to wait in.
func (p *play) requests(played *atomic.Int64) {
	for r := range p.Stream.Requests() {
		time.Sleep(time.Until(p.start.Add(r.At)))
		if r.Flush {
			p.flush()
		}
		if v, answered, err := p.reader.near(r.Key); answered {
			p.tally.add(0, p.right(r.Key, v, err))
		} else {
			p.miss(r.Key)
			p.clients.Go(func() { p.client(r.Key) })
		}
		played.Add(1)
	}
}

// client waits for the answer to a read that has just begun.
func (p *play) client(key string) {
	defer func() {
		if v := recover(); v != nil {
			err := bubble.Panicked(v)
			p.broken.Store(&err)
		}
	}()
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), p.Timeout)
	defer cancel()
	v, err := p.reader.fetch(ctx, key)
	p.tally.add(time.Since(began), p.right(key, v, err))
}

// right reports whether v and err are the right answer to a read of key: its product,
// or, if it has none, a refusal of any kind that says so.
func (p *play) right(key string, v product, err error) bool {
	if p.population.Exists(key) {
		return err == nil && v.Key == key
	}
	return errors.Is(err, earlybird.ErrNotFound) || errors.Is(err, earlybird.ErrMalformedKey)
}

func (p *play) flush() {
	// It can only fail after Close.
	_ = p.cache.InvalidateAll(context.Background())
}

func (p *play) miss(key string) {
	if n, exists := p.population.Number(key); exists {
		p.episodes.miss(n)
	}
}

// load is the origin as every rung sees it, with its calls booked to episodes.
func (p *play) load(ctx context.Context, key string) (product, error) {
	n, exists := p.population.Number(key)
	if exists {
		p.episodes.call(n)
	}
	v, err := p.origin.Load(ctx, key)
	if exists && err == nil {
		p.episodes.fill(n)
	}
	return v, err
}

func (p *play) row(name string) Row {
	asked := p.origin.Tally()
	row := Row{
		Name:            name,
		OriginCalls:     asked.Calls,
		CallsPerEpisode: p.episodes.callsPerEpisode(),
		MaxConcurrent:   asked.MaxConcurrent,
		HostileLeaked:   asked.AbsentIDs,
	}
	p.tally.fillIn(&row)
	return row
}
