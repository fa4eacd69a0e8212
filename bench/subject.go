package main

import "context"

// subject is something that is measured.
type subject struct {
	name string

	// sample measures it once, from scratch.
	sample func(ctx context.Context, w *workload) (sample, error)

	// open makes a trial of it, if single operations are what is measured.
	open opener

	// inside is what a process of its own measures, if sample needs one.
	inside func(job) (sample, error)
}

// opener makes a trial ready.
type opener func(w *workload) (*trial, error)

// sample is the figures of one measurement, by name.
type sample map[string]float64

// timed is a subject whose operations are timed.
func timed(name string, open opener) subject {
	return subject{name: name, open: open, sample: func(_ context.Context, w *workload) (sample, error) {
		return open.sample(w)
	}}
}
