package bloom

import (
	"math/rand/v2"
	"strings"
)

// canaries is how many of the source's ids are kept. If n known ids all pass,
// the share of known ids that would be refused lies below 3/n at 95 %
// confidence: 0.6 % here, and any real fault of the hashing shows at once.
const canaries = 512

// A sample is a uniform choice of the ids offered to it (reservoir sampling).
type sample struct {
	ids  []string
	seen int64
}

func (s *sample) offer(id string) {
	s.seen++
	if len(s.ids) < canaries {
		s.ids = append(s.ids, strings.Clone(id))
	} else if i := rand.Int64N(s.seen); i < canaries {
		s.ids[i] = strings.Clone(id)
	}
}

// holds reports whether the generation accepts all canaries: ids of its source
// and a journal chunk of ids added last.
func (g *generation) holds(sample []string, added []byte) bool {
	for _, id := range sample {
		if !g.knows(id) {
			return false
		}
	}
	ok := true
	eachID(added, func(id string) bool {
		ok = g.knows(id)
		return ok
	})
	return ok
}

// Check tries the filter in force on ids it must know: up to 512 of those its
// source listed and the ones added last. If it refuses one, it is corrupt: the
// guard fails open until the next build, and Check returns [ErrDamaged]. Meant
// to be called now and then; it takes some hundred microseconds.
func (g *Guard) Check() error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.current == nil {
		return nil
	}
	if !g.current.holds(g.sample, g.journal.newest()) {
		g.damaged = true
		g.settleLocked()
	}
	if g.damaged {
		return ErrDamaged
	}
	return nil
}
