package main

import (
	"math"
	"slices"
)

// spread is the median of some figures with their quartiles.
type spread struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// over is the spread of a figure over the turns.
func over(turns []turn, figure func(turn) float64) spread {
	xs := make([]float64, len(turns))
	for i, t := range turns {
		xs[i] = figure(t)
	}
	slices.Sort(xs)
	return spread{Median: quantile(xs, 0.5), Low: quantile(xs, 0.25), High: quantile(xs, 0.75)}
}

// quantile interpolates between the two nearest of the sorted xs.
func quantile(xs []float64, q float64) float64 {
	whole, part := math.Modf(q * float64(len(xs)-1))
	i := int(whole)
	return xs[i] + part*(xs[min(i+1, len(xs)-1)]-xs[i])
}
