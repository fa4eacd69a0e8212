package model

import (
	"fmt"
	"slices"
	"strings"
)

// String tells the history in order, a comment line per event.
func (h *History) String() string {
	type event struct {
		at   Stamp
		text string
	}
	var events []event
	tell := func(at Stamp, format string, args ...any) {
		if at.Seq != 0 {
			events = append(events, event{at, fmt.Sprintf(format, args...)})
		}
	}
	for _, r := range h.Reads {
		tell(r.Start, "%v begins", r)
		tell(r.End, "%v: %s", r, r.outcome())
	}
	for _, l := range h.Loads {
		tell(l.Start, "%v begins, led by read %d", l, l.Leader)
		tell(l.End, "%v: %s", l, l.outcome())
	}
	for _, w := range h.Writes {
		tell(w.Start, "%v begins", w)
		tell(w.End, "%v returns %v", w, w.Err)
	}
	for _, w := range h.Warmings {
		tell(w.Start, "%v begins", w)
		tell(w.End, "%v returns %v, %+v", w, w.Err, w.Done)
	}
	for _, a := range h.Audits {
		tell(a.Stamp, "audit: %v; values=%d negatives=%d", a.Values, a.Stats.Values, a.Stats.Negatives)
	}
	for _, r := range h.Origin {
		tell(r.Stamp, "origin: client %d makes %s version %d", r.Client, r.Key, r.Version)
	}
	for _, q := range h.Questions {
		tell(q.Start, "%v begins", q)
		tell(q.End, "%v: %s", q, q.outcome())
	}
	for _, t := range h.Troubles {
		tell(t.Stamp, "trouble: %s %s n=%d", t.Verb, strings.Join(t.Keys, " "), t.Cache)
	}
	slices.SortFunc(events, func(a, b event) int { return a.at.Seq - b.at.Seq })
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "# %-14v %s\n", e.at.At, e.text)
	}
	return b.String()
}

func (r *Read) String() string {
	who := fmt.Sprintf("client %d of cache %d", r.Client, r.Cache)
	if r.Parent != 0 {
		who = fmt.Sprintf("load %d", r.Parent)
	}
	return fmt.Sprintf("read %d (%s: %s %s %v)", r.ID, who, r.Verb, r.Key, r.Ctx)
}

func (r *Read) outcome() string {
	switch {
	case r.Err != nil:
		return fmt.Sprintf("error %v", r.Err)
	case r.Verb == Peek && !r.Found:
		return "nothing near"
	case r.Verb == Get || r.Verb == Many:
		return r.Result.Value.String()
	}
	return fmt.Sprintf("%v, state %v, age %v", r.Result.Value, r.Result.State, r.Result.Age)
}

func (l *Load) String() string { return fmt.Sprintf("load %d of %s by cache %d", l.ID, l.Key, l.Cache) }

func (l *Load) outcome() string {
	cut := ""
	if l.Cut {
		cut = ", its context cut short"
	}
	if l.Outcome == Brought || l.Outcome == Invalid {
		return fmt.Sprintf("%s: %v%s", l.Outcome, l.Value, cut)
	}
	if l.Outcome == Unmodified {
		return fmt.Sprintf("%v: %v%s", l.Outcome, l.Value, cut)
	}
	return fmt.Sprintf("%s: %v%s", l.Outcome, l.Fault, cut)
}

func (w *Warming) String() string {
	return fmt.Sprintf("client %d: warm %s", w.Client, strings.Join(w.Keys, " "))
}

func (w *Write) String() string {
	s := fmt.Sprintf("write %d (client %d of cache %d: %s %s", w.ID, w.Client, w.Cache, w.Verb, strings.Join(w.Keys, " "))
	if w.Verb == Set {
		s += fmt.Sprintf(" version %d", w.Value.Version)
	}
	return s + ")"
}
