package siege

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// A Row is the score of one attack.
type Row struct {
	Name             string  `json:"name"`
	Requests         int     `json:"requests"`     // the attack's; good ones are not counted
	OriginCalls      int     `json:"origin_calls"` // that the attack's requests led to
	OriginPerMillion float64 `json:"origin_per_million"`
	OriginAllowed    int     `json:"origin_calls_allowed"`
	WrongfulRefusals int     `json:"wrongful_refusals"` // good reads without their record, and keys that would be refused
	GoodHitBefore    float64 `json:"good_hit_before"`   // share of good reads served from memory
	GoodHitDuring    float64 `json:"good_hit_during"`
	HeapGrowth       int64   `json:"heap_growth"`   // bytes live after the attack, less those before
	P99              float64 `json:"p99_ms"`        // of good reads during the attack
	RejectVsHit      float64 `json:"reject_vs_hit"` // median time of a refusal over that of a hit; 0 if nothing was refused
	Verdict          string  `json:"verdict"`       // "holds", "baseline", or what was broken
}

// The verdicts that are no complaints.
const (
	Holds    = "holds"
	Baseline = "baseline"
)

// Broken reports whether the attack broke through.
func (r Row) Broken() bool { return r.Verdict != Holds && r.Verdict != Baseline }

// outcome is all that was measured of one attack.
type outcome struct {
	requests       int
	calls          int
	elapsed        time.Duration
	growth         int64
	before, during *tally
	denied         int // keys that exist and are refused after the attack
	loadsMost      int
	rejectVsHit    float64
}

func (o *outcome) row(p Plan) Row {
	return Row{
		Name:             p.Name,
		Requests:         o.requests,
		OriginCalls:      o.calls,
		OriginPerMillion: 1e6 * float64(o.calls) / float64(o.requests),
		OriginAllowed:    int(p.allowed(o)),
		WrongfulRefusals: o.wrongful(),
		GoodHitBefore:    o.before.hitRatio(),
		GoodHitDuring:    o.during.hitRatio(),
		HeapGrowth:       o.growth,
		P99:              float64(o.during.p99()) / float64(time.Millisecond),
		RejectVsHit:      o.rejectVsHit,
		Verdict:          o.verdict(p),
	}
}

func (o *outcome) wrongful() int {
	return int(o.before.failed.Load()+o.during.failed.Load()) + o.denied
}

// The bounds that hold for every attack.
const (
	// The good hit ratio may fall by so much, and by the noise of the two samples.
	hitLoss = 0.05

	// maxGrowth is room for as many absences as may be remembered, of keys as long as
	// are allowed, and for what the runtime and the eviction policy need to settle.
	maxGrowth = maxNegatives*(maxKeyLen+256) + 1<<20

	// maxReject is far above what refusals take, and far below what it takes to
	// search, to retry or to ask somebody.
	maxReject = 25
)

// verdict names the bounds that were broken.
func (o *outcome) verdict(p Plan) string {
	if p.isBaseline() {
		return Baseline
	}
	var broken []string
	check := func(held bool, format string, args ...any) {
		if !held {
			broken = append(broken, fmt.Sprintf(format, args...))
		}
	}
	most := int(p.allowed(o))
	check(o.calls <= most, "%d origin calls, at most %d", o.calls, most)
	check(o.loadsMost <= maxLoads, "%d loads at once, at most %d", o.loadsMost, maxLoads)
	check(o.wrongful() == 0, "%d wrongful refusals", o.wrongful())
	check(o.during.leaks.Load() == 0, "%d answers to keys of nothing", o.during.leaks.Load())
	check(o.during.strange.Load() == 0, "%d errors that are no refusals", o.during.strange.Load())
	check(o.during.hitRatio() >= o.leastHits(), "good hit ratio %.3f, at least %.3f", o.during.hitRatio(), o.leastHits())
	check(o.growth <= maxGrowth, "heap grew by %d bytes, at most %d", o.growth, maxGrowth)
	check(o.during.p99() <= loadTimeout, "p99 %v, at most %v", o.during.p99(), loadTimeout)
	check(o.rejectVsHit <= maxReject, "a refusal takes %.1f hits, at most %d", o.rejectVsHit, maxReject)
	if broken == nil {
		return Holds
	}
	return strings.Join(broken, "; ")
}

// leastHits is the least good hit ratio: hitLoss below that without the attack, and four
// standard deviations of the difference of two samples.
func (o *outcome) leastHits() float64 {
	p, n := o.before.hitRatio(), float64(o.before.reads.Load())
	return p - hitLoss - 4*math.Sqrt(2*p*(1-p)/n)
}
