// Package trace reads request traces: text, one key a line, in the order in which
// the keys were asked for, gzip'd or not.
//
// A trace is read whole and judged before anything is done with it, so it is held
// in memory: four bytes a request and each distinct key once. Limits bound both.
package trace

// A Trace is a sequence of requests for keys. Its keys are numbered by first
// appearance. The zero Trace has no requests; Read returns none such. A Trace does
// not change and may be shared by any number of goroutines.
type Trace struct {
	keys  []string
	order []uint32
}

// Keys returns every distinct key, in the order of first appearance. The slice is
// the trace's own: read it only.
func (t *Trace) Keys() []string { return t.keys }

// Len returns the number of requests.
func (t *Trace) Len() int { return len(t.order) }

// At returns the number of the key, an index into Keys, that request i asked for.
func (t *Trace) At(i int) int { return int(t.order[i]) }

// Limits bound what Read accepts. Every field must be positive.
type Limits struct {
	Requests int // requests, and so distinct keys
	KeyLen   int // bytes in one key
	KeyBytes int // bytes in all distinct keys together
}

// DefaultLimits keeps a trace within a few hundred megabytes. KeyLen is the
// longest key that a cache accepts unless told otherwise.
var DefaultLimits = Limits{Requests: 20_000_000, KeyLen: 1024, KeyBytes: 256 << 20}
