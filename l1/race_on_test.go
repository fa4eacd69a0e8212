//go:build race

package l1

// Under the race detector sync.Pool throws away what it is given at random, and
// with it nearly everything that ristretto collects of what was asked for.
const underRace = true
