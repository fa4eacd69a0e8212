package bloom

import (
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// An audit picks refusals at random to be let through to the origin, so that
// a wrongful one comes to light.
type audit struct {
	share    float64 // 0: off
	spacing  time.Duration
	start    time.Time
	earliest atomic.Int64 // of the next pick, in nanoseconds after start
}

func newAudit(opts Options) *audit {
	a := &audit{share: opts.Audit, start: time.Now()}
	if opts.Shadow {
		a.share = 0 // shadow lets everything through as it is
	}
	if opts.AuditRate > 0 {
		a.spacing = time.Duration(min(float64(time.Second)/opts.AuditRate, float64(maxSpacing)))
	}
	return a
}

const maxSpacing = 24 * time.Hour

// picks reports whether this refusal is to be audited. The budget is a minimum
// spacing rather than a bucket of tokens: a burst of strangers after a quiet
// hour buys one audit, not an hour's worth.
func (a *audit) picks() bool {
	if a.share == 0 || rand.Float64() >= a.share {
		return false
	}
	now := int64(time.Since(a.start))
	earliest := a.earliest.Load()
	return now >= earliest && a.earliest.CompareAndSwap(earliest, now+int64(a.spacing))
}
