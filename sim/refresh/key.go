package refresh

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// key plays one key of the shared tier and its readers, event by event.
//
// Most reads cannot start a load, and key does not play those. It cuts the time
// before expiry into bands one scale wide. Within a band a read is elected only
// if its u lies below the election probability at the band's end. Reads with
// such a u are a Poisson stream too, thinner by just that factor, and their u is
// uniform below it: key draws these reads alone and puts each before
// xfetch.Due. Before the window opens there are none. A Poisson stream has no
// memory, so each band begins with a new draw. The outcome is distributed
// as if every read had been played, at a cost that hardly depends on their
// rate.
//
// Times are float64 nanoseconds since the entry was last replaced.
type key struct {
	rng     *rand.Rand
	rate    float64 // reads per nanosecond
	scale   time.Duration
	window  float64
	delta   float64
	ttl     float64
	loading []bool // by instance: a load is running; nil if instances do not coalesce

	now, expiry float64
	generation  int
	running     []load // in the order in which they end, since all take delta
}

type load struct {
	end        float64
	instance   int
	generation int // of the entry that it is to replace
}

// expiry is what one generation of the entry cost.
type expiry struct {
	early, hard int     // loads started before and after the entry expired
	left        float64 // nanoseconds before expiry at which the first one started
	life        float64 // nanoseconds until the entry was replaced
}

func (e expiry) loads() int { return e.early + e.hard }

// newKey starts with a fresh entry.
func newKey(s Setup, coalesce bool, rng *rand.Rand) *key {
	k := &key{
		rng:    rng,
		rate:   s.Rate / float64(time.Second),
		scale:  s.scale(),
		window: float64(xfetch.Window(s.scale())),
		delta:  float64(s.Delta),
		ttl:    float64(s.TTL),
		expiry: float64(s.TTL),
	}
	if coalesce {
		k.loading = make([]bool, s.Instances)
	}
	return k
}

// next plays until the entry has been replaced.
func (k *key) next() expiry {
	var e expiry
	for generation := k.generation; k.generation == generation; {
		k.step(&e)
	}
	e.life = k.now
	k.rebase()
	return e
}

// step goes to the next read that may be elected, the end of a load, or the end
// of the band, whichever comes first.
func (k *key) step(e *expiry) {
	until, share := k.band()
	lands := len(k.running) > 0 && k.running[0].end <= until
	if lands {
		until = k.running[0].end
	}
	at := k.now + k.rng.ExpFloat64()/(k.rate*share)
	if at < until {
		k.now = at
		k.read(e, share)
		return
	}
	k.now = until
	if lands {
		k.land()
	}
}

// band is when the current band ends, and the share of reads that may be elected
// until then. After expiry that is all of them, for ever.
func (k *key) band() (end, share float64) {
	switch opens := k.expiry - k.window; {
	case k.now < opens:
		return opens, 0
	case k.now >= k.expiry:
		return math.Inf(1), 1
	}
	width := float64(k.scale)
	floor := width * (math.Ceil((k.expiry-k.now)/width) - 1) // time left at the end
	if k.expiry-floor <= k.now {
		floor -= width // this end has just been reached, up to rounding
	}
	return k.expiry - floor, xfetch.Probability(time.Duration(floor), k.scale)
}

// read is one read whose u is below share.
func (k *key) read(e *expiry, share float64) {
	left := k.expiry - k.now
	if !xfetch.Due(wholeLeft(left), k.scale, share*k.rng.Float64()) {
		return
	}
	instance := 0
	if k.loading != nil {
		instance = k.rng.IntN(len(k.loading))
		if k.loading[instance] {
			return // joins that load
		}
		k.loading[instance] = true
	}
	if e.loads() == 0 {
		e.left = left
	}
	if left > 0 {
		e.early++
	} else {
		e.hard++
	}
	k.running = append(k.running, load{k.now + k.delta, instance, k.generation})
}

// land publishes the load that has just ended. Only the first of a generation
// opens the next one; those that were started meanwhile write their value again.
func (k *key) land() {
	done := k.running[0]
	k.running = k.running[1:]
	if k.loading != nil {
		k.loading[done.instance] = false
	}
	k.expiry = k.now + k.ttl
	if done.generation == k.generation {
		k.generation++
	}
}

// rebase counts time from now on, so that long runs lose no precision.
func (k *key) rebase() {
	for i := range k.running {
		k.running[i].end -= k.now
	}
	k.expiry -= k.now
	k.now = 0
}

// wholeLeft rounds to the nanoseconds that xfetch takes; a read before expiry
// stays before it.
func wholeLeft(left float64) time.Duration {
	if left <= 0 {
		return 0
	}
	return max(1, time.Duration(math.Round(left)))
}
