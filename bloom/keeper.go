package bloom

import (
	"context"
	"iter"
	"math/rand/v2"
	"time"
)

// A Keeper keeps a guard built: at once if nothing has been loaded, then every
// so often, and sooner when the guard asks for it because it has outgrown its
// design, aged or been caught with a wrong answer.
type Keeper struct {
	// IDs lists what exists, anew at each call; a Source's IDs will do.
	// Required.
	IDs func(ctx context.Context) iter.Seq2[string, error]

	// Every is the time from one build to the next, shortened by up to a tenth
	// at random so that many instances do not read the origin together. A
	// guard that asks for a build gets one no sooner than a tenth of Every
	// after the last; after a failure the next try comes that soon too. 0
	// means one hour.
	Every time.Duration

	// File is where each build is saved; "" is nowhere.
	File string

	// OnError is told of builds and saves that failed; the guard goes on with
	// what it has. May be nil.
	OnError func(error)
}

const (
	defaultKeep = time.Hour
	checkEvery  = time.Minute // canaries
)

// Run keeps g until ctx ends, and returns ctx's error; or an *OptionError.
func (k Keeper) Run(ctx context.Context, g *Guard) error {
	switch k.Every = orDefault(k.Every, defaultKeep); {
	case g == nil:
		<-ctx.Done()
		return ctx.Err()
	case k.IDs == nil:
		return &OptionError{"IDs", nil, "is required"}
	case k.Every < 0:
		return &OptionError{"Every", k.Every, "cannot be off"}
	}
	_ = g.awaitMembers(ctx) // somebody's snapshot may be on its way
	soonest, wait := time.Duration(0), k.untilDue(g)
	for first := true; k.await(ctx, g, soonest, wait); first = false {
		soonest, wait = k.Every/10, k.Every
		if err := k.build(ctx, g); err != nil {
			k.report(ctx, err)
			wait = soonest
		} else if first && g.Stats().State == Incomplete { // it had begun before Join
			soonest, wait = 0, 0
		}
	}
	return ctx.Err()
}

// untilDue is how long the guard's present ids will do: not at all if there
// are none.
func (k Keeper) untilDue(g *Guard) time.Duration {
	s := g.Stats()
	if s.WantsBuild {
		return 0
	}
	return max(k.Every-time.Since(s.Read), 0)
}

// await reports true when the next build is due, after at most the second of
// the waits and, if the guard asks for it, after the first. It reports false
// when ctx has ended.
func (k Keeper) await(ctx context.Context, g *Guard, soonest, longest time.Duration) bool {
	due := time.NewTimer(longest - rand.N(longest/10+1))
	defer due.Stop()
	early := time.NewTimer(soonest)
	defer early.Stop()
	check := time.NewTicker(checkEvery)
	defer check.Stop()

	var wants chan struct{} // deaf until it is early enough
	for {
		select {
		case <-ctx.Done():
			return false
		case <-due.C:
			return true
		case <-wants:
			return true
		case <-early.C:
			wants = g.wants
		case <-check.C:
			_ = g.Check() // what it finds, the guard asks for by itself
		}
	}
}

func (k Keeper) build(ctx context.Context, g *Guard) error {
	if err := g.Build(ctx, k.IDs(ctx)); err != nil {
		return err
	}
	if k.File == "" {
		return nil
	}
	return g.SaveFile(k.File)
}

// report keeps quiet about a build that Run's own end cut short.
func (k Keeper) report(ctx context.Context, err error) {
	if ctx.Err() == nil && k.OnError != nil {
		k.OnError(err)
	}
}
