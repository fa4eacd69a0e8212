package earlybird

import "time"

// timeouts are those of the loader calls under way. Each call has as long as every
// other, so they are due in the order they began in, and one timer does for all: a
// timer for each would be a tenth of what a load costs. The lock of the flights
// guards them.
type timeouts[V any] struct {
	oldest, youngest *load[V]
	isSet            bool // a timer runs, for the oldest or for one before it
}

// timeout is a load's place among them.
type timeout[V any] struct {
	at             time.Time
	older, younger *load[V]
}

// add appends l, whose call is to end at at. due is called when the first one is.
func (ts *timeouts[V]) add(l *load[V], at time.Time, due func()) {
	l.due.at = at
	l.due.older = ts.youngest
	if ts.youngest == nil {
		ts.oldest = l
	} else {
		ts.youngest.due.younger = l
	}
	ts.youngest = l
	ts.set(due)
}

// remove takes out l, if it is there.
func (ts *timeouts[V]) remove(l *load[V]) {
	older, younger := l.due.older, l.due.younger
	switch {
	case older != nil:
		older.due.younger = younger
	case ts.oldest == l:
		ts.oldest = younger
	default:
		return
	}
	if younger != nil {
		younger.due.older = older
	} else {
		ts.youngest = older
	}
	l.due.older, l.due.younger = nil, nil
}

// take takes out those whose time is up, and sees to the next one.
func (ts *timeouts[V]) take(due func()) (late []*load[V]) {
	for now := time.Now(); ts.oldest != nil && !now.Before(ts.oldest.due.at); {
		late = append(late, ts.oldest)
		ts.remove(ts.oldest)
	}
	ts.isSet = false
	ts.set(due)
	return late
}

func (ts *timeouts[V]) set(due func()) {
	if !ts.isSet && ts.oldest != nil {
		ts.isSet = true
		time.AfterFunc(time.Until(ts.oldest.due.at), due)
	}
}
