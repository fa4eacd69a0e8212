package earlybird

import "sync"

// episodes follows miss episodes, from the first read of a key that finds
// nothing to serve to the next time something is stored for it.
type episodes struct {
	mu    sync.Mutex
	open  map[string]struct{}
	begun uint64
	loads uint64
}

// mostEpisodes bounds the keys followed at once. A key that fails for ever
// would otherwise stay; one that is dropped and comes again counts twice.
const mostEpisodes = 1 << 12

func newEpisodes() *episodes {
	return &episodes{open: make(map[string]struct{})}
}

// begin opens the episodes of keys, unless they are open.
func (e *episodes) begin(keys ...string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, key := range keys {
		e.beginLocked(key)
	}
}

func (e *episodes) beginLocked(key string) {
	if _, ok := e.open[key]; ok {
		return
	}
	if len(e.open) >= mostEpisodes {
		for other := range e.open { // any will do
			delete(e.open, other)
			break
		}
	}
	e.open[key] = struct{}{}
	e.begun++
}

// load notes that a load of keys starts.
func (e *episodes) load(keys []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, key := range keys {
		if _, ok := e.open[key]; ok {
			e.loads++
		}
	}
}

// end closes the key's episode: something was stored.
func (e *episodes) end(key string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.open, key)
}

func (e *episodes) addTo(s *Stats) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s.Episodes, s.EpisodeLoads = e.begun, e.loads
}
