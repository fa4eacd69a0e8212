package main

import (
	"container/heap"
	"math"
)

// optimum returns how many of the requests the best of all caches would hit, one
// that knows the future: it keeps the keys that are asked for soonest (L. A.
// Belady, "A study of replacement algorithms for a virtual-storage computer",
// IBM Systems Journal 5(2), 1966). Here it may also decline to store what it
// loads, as real caches do, so that none can beat it.
func optimum(reqs requests, room int) (hits int) {
	next := nextUses(reqs)
	held := make([]bool, len(reqs.Keys()))
	var soonest uses
	for i, full := 0, 0; i < reqs.Len(); i++ {
		key := reqs.At(i)
		if held[key] {
			hits++
			full--
		}
		held[key] = true
		heap.Push(&soonest, use{key, next[i]})
		if full++; full > room {
			held[heap.Pop(&soonest).(use).key] = false
			full--
		}
	}
	return hits
}

// nextUses returns, for each request, when its key is asked for again.
func nextUses(reqs requests) []int {
	next, at := make([]int, reqs.Len()), make([]int, len(reqs.Keys()))
	for key := range at {
		at[key] = math.MaxInt
	}
	for i := reqs.Len() - 1; i >= 0; i-- {
		key := reqs.At(i)
		next[i] = at[key]
		at[key] = i
	}
	return next
}

// use is the next time that a key is asked for.
type use struct{ key, at int }

// uses is a heap with the latest use on top. Those that have been are left in it:
// they are below all others, which are in the future.
type uses []use

func (u uses) Len() int           { return len(u) }
func (u uses) Less(i, j int) bool { return u[i].at > u[j].at }
func (u uses) Swap(i, j int)      { u[i], u[j] = u[j], u[i] }
func (u *uses) Push(x any)        { *u = append(*u, x.(use)) }
func (u *uses) Pop() any {
	last := len(*u) - 1
	x := (*u)[last]
	*u = (*u)[:last]
	return x
}
