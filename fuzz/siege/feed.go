package siege

import (
	"iter"
	"sync"
)

// A feed deals the keys of an endless stream out to many readers, in order.
type feed struct {
	mu    sync.Mutex
	pull  func() (string, bool)
	close func()
	first []string // pulled already
}

func newFeed(keys iter.Seq[string]) *feed {
	pull, stop := iter.Pull(keys)
	return &feed{pull: pull, close: stop}
}

// prime brings the stream to where it has its first key.
func (f *feed) prime() {
	key, _ := f.pull()
	f.first = append(f.first, key)
}

func (f *feed) nextLocked() string {
	if n := len(f.first); n > 0 {
		key := f.first[n-1]
		f.first = f.first[:n-1]
		return key
	}
	key, _ := f.pull()
	return key
}

// ration returns the next n keys of the feed, to be taken in portions.
func (f *feed) ration(n int) *ration { return &ration{feed: f, left: n} }

// A ration is a part of a feed. A nil ration is used up.
type ration struct {
	feed *feed
	left int // guarded by feed.mu
}

// take fills portion with keys as far as there are any, and returns the part that it
// filled.
func (r *ration) take(portion []string) []string {
	if r == nil {
		return nil
	}
	r.feed.mu.Lock()
	defer r.feed.mu.Unlock()
	portion = portion[:min(len(portion), r.left)]
	r.left -= len(portion)
	for i := range portion {
		portion[i] = r.feed.nextLocked()
	}
	return portion
}
