package refresh

import (
	"sync/atomic"
	"testing"
)

// How long does an expiry take without its reads?
func BenchmarkThinned(b *testing.B) {
	for name, change := range map[string]func(*Setup){
		"default":      func(*Setup) {},
		"singleflight": func(s *Setup) { s.Coordination = Singleflight },
		"lease":        func(s *Setup) { s.Coordination = Lease },
		"lognormal":    func(s *Setup) { s.Cost = CostOf("lognormal:0.5") },
	} {
		b.Run(name, func(b *testing.B) {
			s := Default
			change(&s)
			c := newClocks(s)
			blocks := s.thinnedBlocks(&c)
			blocks.expiries, blocks.size = b.N, maxBlock
			blocks.play(1, 1, new(atomic.Int64))
		})
	}
}

// And a read as an event?
func BenchmarkEvent(b *testing.B) {
	s := Default
	c := newClocks(s)
	k := newEvents(&s, &c, source(1, streamEvents))
	for k.played < b.N {
		k.next()
	}
}
