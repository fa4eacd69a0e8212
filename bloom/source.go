package bloom

import (
	"context"
	"iter"
	"math/rand/v2"
	"time"
)

// A Source reads all ids in some fixed order, page by page so to speak, so
// that a scan which breaks off goes on where it was rather than from the
// beginning: `SELECT id FROM products WHERE id > $1 ORDER BY id`.
//
// Ids created during the scan that sort before the point it has reached are
// not seen. They must come through Guard.Add, like any new id.
type Source struct {
	// Open starts a scan of the ids after the given one, from the first if
	// that is "". It ends by yielding an error, or without one at the end of
	// the ids. Required.
	Open func(ctx context.Context, after string) iter.Seq2[string, error]

	// Retries is how often in a row Open is tried again when not one id came
	// in between. The pauses double from 100 ms to 10 s, and vary by half. 0
	// means 5, negative none.
	Retries int

	// Progress is told after every Every ids, and at the end of the scan, how
	// many have been read and the last of them. nil is told nothing; an Every
	// of 0 means 100,000.
	Progress func(ids int, last string)
	Every    int
}

const (
	defaultRetries = 5
	defaultEvery   = 100_000
	firstPause     = 100 * time.Millisecond
	longestPause   = 10 * time.Second
)

// IDs is the sequence for Build: every id, over as many scans as it takes, or
// the error of the last scan. It yields ctx's error once ctx ends.
func (s Source) IDs(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if s.Open == nil {
			yield("", &OptionError{"Open", nil, "is required"})
			return
		}
		scan := scan{Source: s, yield: yield}
		retries := max(orDefault(s.Retries, defaultRetries), 0)
		for failed := 0; ; failed++ {
			before := scan.read
			err := scan.run(ctx)
			if scan.read > before {
				failed = 0
			}
			switch {
			case scan.stopped:
				return
			case err == nil:
				scan.report()
				return
			case failed >= retries || !sleep(ctx, pause(failed)):
				yield("", err)
				return
			}
		}
	}
}

// A scan is the state that outlives one run of Open.
type scan struct {
	Source
	yield   func(string, error) bool
	read    int
	last    string
	stopped bool // the consumer has had enough
}

// run yields ids until the source ends or fails.
func (s *scan) run(ctx context.Context) error {
	every := max(orDefault(s.Every, defaultEvery), 1)
	for id, err := range s.Open(ctx, s.last) {
		if err != nil {
			return err
		}
		if !s.yield(id, nil) {
			s.stopped = true
			return nil
		}
		s.read++
		s.last = id
		if s.read%every == 0 {
			s.report()
		}
	}
	return ctx.Err() // a driver may end its rows early and say nothing
}

func (s *scan) report() {
	if s.Progress != nil {
		s.Progress(s.read, s.last)
	}
}

// pause is how long to wait after this many failures in a row.
func pause(failed int) time.Duration {
	d := min(firstPause<<min(failed, 16), longestPause)
	return d/2 + rand.N(d)
}

// sleep reports whether it slept its fill before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
