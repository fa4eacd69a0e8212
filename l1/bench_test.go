package l1

import (
	"math"
	"strconv"
	"testing"

	"github.com/dgraph-io/ristretto/v2"
)

// What does a read of a hot key cost, and what of that is ristretto's own? And
// what does a Put, of a key that has its place and of one that must ask for it? BenchmarkPromoted of the
// package above compares a read with a hit in memory.
//
//	go test -run '^$' -bench . -cpu 1,2 ./l1
func BenchmarkGet(b *testing.B) {
	keys := make([]string, 256)
	for i := range keys {
		keys[i] = "product:" + strconv.Itoa(i)
	}
	tier, err := New[*int](Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer tier.Close()
	plain, err := ristretto.NewCache(&ristretto.Config[string, *int]{NumCounters: 10240, MaxCost: 1024, BufferItems: 64, IgnoreInternalCost: true})
	if err != nil {
		b.Fatal(err)
	}
	defer plain.Close()
	for _, key := range keys {
		tier.Put(key, new(int), 1, math.MaxInt64)
		plain.Set(key, new(int), 1)
	}
	plain.Wait()
	each := func(name string, keys []string, get func(key string) bool) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					if !get(keys[i%len(keys)]) {
						b.Error("missed")
						return
					}
				}
			})
		})
	}
	ours := func(key string) bool { _, ok := tier.Get(key, 1); return ok }
	theirs := func(key string) bool { _, ok := plain.Get(key); return ok }
	each("256 keys/tier", keys, ours)
	each("256 keys/ristretto", keys, theirs)
	each("one key/tier", keys[:1], ours)
	each("one key/ristretto", keys[:1], theirs)
}

func BenchmarkPut(b *testing.B) {
	tier, err := New[*int](Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer tier.Close()
	v := new(int)
	b.Run("has its place", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tier.Put("a", v, 1, 1)
		}
	})
	b.Run("deleted before", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tier.Delete("b")
			tier.Begin("b").Put(v, 1, 1)
		}
	})
	b.Run("demoted before", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			tier.Demote("c")
			tier.Put("c", v, 1, 1)
		}
	})
}
