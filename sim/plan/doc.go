// Package plan is the engine behind "go run ./sim plan". From what is known of a
// key, its origin and the fleet that reads it, and from two targets, it works out
// the options of a cache: how to refresh early, how far to spread lives, how many
// loads to allow, how long to keep hot keys near and into how many copies to split
// them. It says what each figure follows from and what to expect of all of them.
//
// Every formula is one of package xfetch, where it is derived. Nothing is random:
// the same setup gives the same plan.
package plan
