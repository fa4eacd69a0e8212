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
//	{a|b|c}           one of these literals; one of them may be empty
//	{uint}            0 to 18446744073709551615; {uint:a..b} narrows it
//	{int}             -9223372036854775808 to 9223372036854775807; {int:a..b} narrows it
//	{snowflake:epoch} 0 to 9223372036854775807, and for MatchAt not from the future; the
//	                  epoch is twitter, discord, or in milliseconds since 1970
//	{uuid}            8-4-4-4-12 lower-case hex digits, any version
//	{ulid}            26 of 0-9 A-Z without I, L, O, U; the first at most 7
//	{slug}            a-z and 0-9 in words joined by single hyphens, 1 to 128 bytes
//	{digits:n}        n of 0-9; {lower:n} of a-z; {upper:n} of A-Z; {hex:n} of 0-9 a-f
//	{base58:n}        n of the Bitcoin alphabet, which lacks 0, O, I and l
//	{base62:n}        n of 0-9 A-Z a-z
//	{crockford:n}     n of 0-9 A-Z without I, L, O, U
//	{base32:n}        n characters of whole bytes by RFC 4648, no padding; {base64url:n} too
//	{luhn:n}          n digits, the last a check digit (ISO/IEC 7812)
//	{mod97:n}         n of 0-9 A-Z, the last two check digits (ISO/IEC 7064 MOD 97-10)
//	{isbn10} {isbn13} without hyphens
//	{re:n:expr}       n bytes that all of the regular expression matches (package regexp);
//	                  its braces must be balanced or escaped
//
// A length n may be a range n..m, as in {slug:3..40}. Outside braces, and in a
// choice of literals, \{ \} \| \\ stand for the byte itself. Everything else,
// including every byte that is not ASCII, stands for itself.
//
// # One spelling per id
//
// If 7, 07 and +7 reach one row, they are three cache entries, of which an
// invalidation finds one, and an endless supply of misses. So a class accepts
// one spelling of each id: no leading zeros, no plus, no -0; hex and UUIDs in
// lower case, ULIDs and crockford in upper case; the unused bits of a last
// base32 character zero. Normalise first what callers may spell freely. Classes
// of mere strings keep leading zeros, since there they are part of the id, and
// for {re} its author answers.
//
// # Cost
//
// Matching allocates nothing, never backtracks, and takes time linear in the
// key for any pattern; keys too long or too short for a pattern are refused
// unread. Where a class ends is nearly always decided by what follows (a fixed
// length, or a byte that the class does not contain), and such patterns are
// matched in one pass. Others, such as {slug}-{uint}, cost a few times more:
// all possible ends are carried along together. Where that would take too long
// (base32, base64url, check digits, re), Compile refuses the pattern.
//
// # Composite keys
//
// Concatenation gives the tenants acme1 and acme the same key for ids 23 and
// 123. [Join] cannot: it is injective for any bytes. [Split] and [Part] are its
// inverse without copying, and [Joined] is the shape of a joined key, part by
// part.
package keyshape
