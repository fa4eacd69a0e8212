package ladder

import "sync"

// episodes counts miss episodes of keys that exist, and the origin calls made in
// them. An episode of a key begins with the first read that finds nothing servable
// and ends with the next answer from the origin that somebody still waits for: with
// a cache that is the fill. One call an episode is the least there can be. A call
// outside an episode refreshes something that is still served.
type episodes struct {
	mu     sync.Mutex
	state  []episode // by key number
	begun  int       // episodes in which the origin was called
	called int       // calls in them
}

type episode uint8

const (
	none    episode = iota // the key is servable, as far as anybody knows
	missing                // a read found nothing
	calling                // and the origin was called
)

func newEpisodes(keys int) *episodes { return &episodes{state: make([]episode, keys)} }

// miss says that a read of the key found nothing servable.
func (e *episodes) miss(key int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.state[key] == none {
		e.state[key] = missing
	}
}

// call says that the origin is called for the key.
func (e *episodes) call(key int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch e.state[key] {
	case none:
		return
	case missing:
		e.state[key] = calling
		e.begun++
	}
	e.called++
}

// fill says that the origin's answer for the key arrived.
func (e *episodes) fill(key int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.state[key] = none
}

// callsPerEpisode returns 0 if there was no episode.
func (e *episodes) callsPerEpisode() float64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.begun == 0 {
		return 0
	}
	return float64(e.called) / float64(e.begun)
}
