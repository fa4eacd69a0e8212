// Package scenarios is the engine behind "go run ./sim scenarios": one scenario
// for each claim that this project makes, or repeats, about what a cache does to
// its origin. Each is played and set beside a closed form, another engine, a
// published measurement or a plain count.
//
// # When a row holds
//
// A random figure holds if it is within 4 standard errors of what was expected:
// sixty rows with 95 % intervals would all hold in one run of twenty only.
// Standard errors that are too large would hide anything, so a test looks at the
// spread of z over many seeds. Probabilities below 1e-3 are judged by the Poisson
// law of what was counted, and those below 1e-6, which no run would see, are given
// as closed forms only and said to be that. A count must be exact. An error often
// seen in print must be refuted, by more than 4 standard errors.
//
// The same seed gives the same figures, whatever the number of processors, but for
// those of the real guard, which draws its secret anew each time.
package scenarios
