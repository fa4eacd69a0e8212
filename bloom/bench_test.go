package bloom

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	bitsbloom "github.com/bits-and-blooms/bloom/v3"
)

// What does the guard cost a read of an id that exists, of one that does not,
// and what would the bare library cost, which is neither keyed nor safe beside
// an Add? 24-byte ids, a million of them.
//
//	go test -run '^$' -bench MayContain -cpu 1,2 ./bloom
func BenchmarkMayContain(b *testing.B) {
	const n = 1 << 20
	present, absent := make([]string, n), make([]string, n)
	for i := range n {
		present[i] = fmt.Sprintf("product-%016x", i*7919)
		absent[i] = fmt.Sprintf("missing-%016x", i*7919)
	}
	g, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	if err := g.Build(context.Background(), list(present...)); err != nil {
		b.Fatal(err)
	}
	plain := bitsbloom.FromWithM(make([]uint64, g.current.m/64), g.current.m, g.current.k)
	for _, id := range present {
		plain.AddString(id)
	}
	each := func(name string, ids []string, ask func(string) bool) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for i := rand.Uint32(); pb.Next(); i++ { // the filter sees random digests; the ids come as hot as from a parser
					ask(ids[i%n])
				}
			})
		})
	}
	each("present/guard", present, g.MayContain)
	each("present/library", present, plain.TestString)
	each("absent/guard", absent, g.MayContain)
	each("absent/library", absent, plain.TestString)
	for i := range 4096 {
		g.Add(fmt.Sprint("recent-", i))
	}
	each("absent/guard with 4096 recent adds", absent, g.MayContain)
}

// How fast is a build, from ids that are made as it reads them?
func BenchmarkBuild(b *testing.B) {
	g, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	const n = 1 << 20
	for b.Loop() {
		if err := g.Build(context.Background(), numbered("product", n)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/id")
}

// What does an Add cost, folds and all, on a guard of a million ids?
func BenchmarkAdd(b *testing.B) {
	g, err := New(Options{Expected: 1 << 20})
	if err != nil {
		b.Fatal(err)
	}
	if err := g.Build(context.Background(), list("seed")); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		g.Add(fmt.Sprintf("product-%016x", i))
	}
}
