package refresh

// event is something that happens at an instant: a read by an instance, or the
// end of a load.
type event struct {
	at   int64 // nanoseconds
	what int32 // an instance, or -1-i for the i-th running load
}

// heap holds events, the earliest first. Four children a node make it half as
// high as a binary heap, and those of a node are neighbours in memory.
type heap []event

func (h *heap) push(e event) {
	*h = append(*h, e)
	s := *h
	i := len(s) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if s[parent].at <= e.at {
			break
		}
		s[i] = s[parent]
		i = parent
	}
	s[i] = e
}

// replaceTop puts e in the place of the earliest event.
func (h heap) replaceTop(e event) {
	i := 0
	for {
		first := 4*i + 1
		if first >= len(h) {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, len(h)); c++ {
			if h[c].at < h[least].at {
				least = c
			}
		}
		if h[least].at >= e.at {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = e
}

// pop takes the earliest event away.
func (h *heap) pop() {
	s := *h
	last := s[len(s)-1]
	*h = s[:len(s)-1]
	if len(*h) > 0 {
		h.replaceTop(last)
	}
}
