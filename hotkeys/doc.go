// Package hotkeys tells which keys are read most, in memory that has a bound
// whatever keys come.
//
//	tracker, err := hotkeys.New(hotkeys.Options{Threshold: 5000}) // reads a second
//	...
//	tracker.Touch(key)           // at every read
//	...
//	for _, k := range tracker.Top(10) { fmt.Println(k.Key, k.Rate) }
//
// # How it counts
//
// Few reads are looked at: one in [Tracker.Every], drawn at random, which
// stands for all of them. The others cost a random number and a comparison, and
// not even that if the caller has a counter of its own to pick them by, see
// [Tracker.Sample]. Every is so chosen ([SampleRate]) that chance neither hides
// a key read [Options.Threshold] times a second nor makes one out of half as
// many.
//
// The samples go to Space-Saving counters (A. Metwally, D. Agrawal and A. El
// Abbadi, "Efficient Computation of Frequent and Top-k Elements in Data
// Streams", ICDT 2005). There is a fixed number of them. A key that has none
// takes over the smallest, and starts from its count, because it may have been
// read that often unseen. What was counted since the takeover is certain, the
// sum with the inherited count cannot be exceeded, and so each key has two
// bounds with its true count between them. [HotKey.Lower] is the one to act on:
// a flood of keys that are read once each drives up the upper bounds only.
//
// The counters are divided into stripes of 64 by a keyed hash, so that nobody
// who does not know the process's secret can aim keys at the stripe of another.
// A key read more often than a 64th of what its stripe receives always has a
// counter.
//
// # How it forgets
//
// Time is cut into windows, and at the end of each all counts are halved. With
// W the length of a window and e what has passed of the present one, the counts
// of a key read steadily r times a second add up to r*(e + W/2 + W/4 + ...),
// which is r*(W+e); dividing by W+e gives r back. Rates are such means: of the
// whole past, in which each window weighs half of the next. A key that starts
// at twice the threshold passes the limit of [Hysteresis] within one window,
// one that starts at the threshold within little more than two; three windows
// after the last read a rate is an eighth of what it was.
//
// Nothing runs in the background. A stripe catches up with time when it is
// next looked at.
//
// # What the bounds mean
//
// Between the bounds lies the rate of the reads that were sampled, each counted
// Every times. If every read is sampled, that is the true rate. Otherwise it
// differs by chance, with a standard deviation of at most
// sqrt(0.375*Every/(r*W)) of r: 7.3 % at the threshold.
//
// A sample that meets another in its stripe is dropped rather than kept
// waiting. Drops are counted in [Stats] and added to the upper bounds.
//
// # From rates to decisions
//
// [Tracker.Above] lists the keys over a rate, and [Hysteresis] turns successive
// rates of one key into a state that does not flap. [Plan] does that for all keys:
// it says which are to be kept in process, and which of them are too much for one
// server of the shared tier even so. Count reads above every
// tier that serves hot keys, or a key will look cold as soon as it is promoted.
package hotkeys
