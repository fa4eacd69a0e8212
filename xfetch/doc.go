// Package xfetch answers one question: is this read due to refresh its entry
// early? It is arithmetic only. It holds no state, reads no clock and draws no
// random number: time and chance are arguments, so every answer can be
// repeated.
//
// # The rule
//
// When a popular entry expires, everybody who reads it before the new value
// lands goes to the origin: a stampede. XFetch lets readers start the
// recompute before that, each deciding alone, by a draw that becomes more
// likely to succeed as expiry comes near:
//
//	now - delta*beta*ln(u) >= expiry        u uniform in (0, 1]
//
// delta is what a recompute costs, beta how eager to be (1 is the default).
// Since -ln(u) is exponentially distributed, a read with t left before expiry
// is elected with probability e^{-t/s}, where s = beta*delta is called the
// scale. For a load of 400 ms that is one read in seventy billion at ten
// seconds left, 37 % at 400 ms and 78 % at 100 ms. The minus sign is essential:
// ln(u) is negative, and the rule with a plus never refreshes early.
//
// The rule is due to A. Vattani, F. Chierichetti and K. Lowenstein, "Optimal
// Probabilistic Cache Stampede Prevention", PVLDB 8(8):886-897, 2015.
//
// # In a cache
//
//	scale := ClampScale(Scale(delta, beta), ttl)   // once, when the entry is written
//	wake := expiry - Window(scale)                 // likewise: no draw succeeds before this
//	...
//	if now >= wake && Due(expiry-now, scale, rand.Float64()) { refresh }
//
// Before wake a read costs one integer comparison, and skipping the draw there
// changes no decision. [Smooth] carries delta from load to load; [Life] shortens
// lives at random, so that entries written together do not expire together
// (which early refresh alone does not cure).
//
// # Two rules
//
// The classic rule aims draws at expiry. It needs to know nothing of a key but
// delta, is early with hot keys, and late with keys that are read less than a
// dozen times per load. The deadline rule also knows what a load may take and how
// often the key is read, and aims so that a refresh is late with the same
// probability at any rate. A [Rule] is either; [Rule.Aim] turns what was learnt of
// a key ([Cost], [Reads]) into the [Aim] of one entry:
//
//	aim := rule.Aim(xfetch.Known{Cost: cost, Rate: reads.Reliable()}, beta, life)
//	wake := expiry - aim.Window()
//	...
//	if now >= wake && aim.Due(expiry-now, rand.Float64()) { refresh }
//
// # What to expect of it
//
// The rule does not promise one load per expiry. Readers do not know that a
// colleague has already started, so a hot key is loaded e^{1/beta} times per
// expiry on average, 2.7 at beta 1, however often it is read. A lease taken
// after a successful draw brings that to nearly one. And a key must be read at
// all while its window is open: below some twelve reads per load time more
// than one refresh in a hundred comes late, unless the deadline rule is used.
// [Law] has these figures as closed forms, for both rules, each derived where it
// stands; they are our own derivations.
//
// Others turn them round, from what is wanted to what to set: [TimelyScale],
// [BestScale], [JitterFor], [MaxLoads], [LeastTTL], [L1TTL], [Copies], [StaleFor].
// "go run ./sim plan" puts them together.
//
// # Values at the edges
//
// Durations are int64 nanoseconds and saturate; no result is NaN or infinite,
// whatever the arguments. A NaN for a random number means "nothing happened":
// no refresh, no shortening. Every function may be called from any goroutine.
package xfetch
