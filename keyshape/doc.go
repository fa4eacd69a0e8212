// Package keyshape says what a well-formed cache key looks like, and builds
// keys out of parts so that no two lists of parts share one.
//
// # Shapes
//
// A service knows what its ids look like, and most keys that a scanner, a
// broken client or an attacker sends do not look like that. [Compile] turns a
// few patterns into a [Set]; [Set.Match] answers whether a key has one of those
// shapes, before anything is looked up, loaded or remembered for it:
//
//	shapes := keyshape.MustCompile("user:{uint}", "doc:{uuid}", "page:{en|de|fr}/{slug}")
//
// A pattern is literal text with classes in braces, and covers the whole key:
//
//	{a|b|c}         one of these literals; one of them may be empty
//	{uint}          0 to 18446744073709551615; {uint:a..b} narrows it
//	{int}           -9223372036854775808 to 9223372036854775807; {int:a..b} narrows it
//	{uuid}          8-4-4-4-12 lower-case hex digits, any version
//	{ulid}          26 of 0-9 A-Z without I, L, O, U; the first at most 7
//	{hex:n}         n of 0-9 a-f
//	{base58:n}      n of the Bitcoin alphabet: no 0, O, I, l
//	{slug}          a-z and 0-9 in words joined by single hyphens, 1 to 128 bytes
//
// A length n may be a range n..m; slug takes one too ({slug:3..40}). Outside
// braces, and in a choice of literals, \{ \} \| \\ stand for the byte itself.
// Everything else, including every byte that is not ASCII, stands for itself.
//
// # One spelling per id
//
// If 7, 07 and +7 reach one row, they are three cache entries, of which an
// invalidation finds one, and an endless supply of misses. So a class accepts
// one spelling of each id: no leading zeros, no plus, no -0; hex and UUIDs in
// lower case, ULIDs in upper case. Normalise first what callers may spell
// freely. A class of mere strings (hex, base58, slug) keeps leading zeros,
// since there they are part of the id.
//
// # Cost
//
// Matching allocates nothing, never backtracks, and takes time linear in the
// key for any pattern; keys too long or too short for a pattern are refused
// unread. Where a class ends is nearly always decided by what follows (a fixed
// length, or a byte that the class does not contain), and such patterns are
// matched in one pass. Others, such as {slug}-{uint}, cost a few times more:
// all possible ends are then carried along together.
//
// # Composite keys
//
// Concatenation gives the tenants acme1 and acme the same key for ids 23 and
// 123. [Join] cannot: it is injective for any bytes. [Split] and [Part] are its
// inverse without copying, and [Joined] is the shape of a joined key, part by
// part.
package keyshape
