package main

import "testing"

func BenchmarkHit(b *testing.B)    { benchmark(b, "hit") }
func BenchmarkReject(b *testing.B) { benchmark(b, "reject") }
func BenchmarkMiss(b *testing.B)   { benchmark(b, "miss") }
func BenchmarkMany(b *testing.B)   { benchmark(b, "many") }
func BenchmarkShared(b *testing.B) { benchmark(b, "shared") }

// benchmark runs the subjects of a row, each made ready when its turn comes.
func benchmark(b *testing.B, name string) {
	r := rowNamed(b, name)
	w := newPlan().variantsOf(r)[0].workload()
	for _, s := range r.subjects {
		var t *trial
		b.Run(s.name, func(b *testing.B) {
			if t == nil { // b.N grows from call to call
				var err error
				if t, err = s.open(w); err != nil {
					b.Fatal(err)
				}
			}
			t.run(b)
			if err := t.check(); err != nil {
				b.Fatal(err)
			}
		})
		if t != nil {
			t.end()
		}
	}
}

func rowNamed(tb testing.TB, name string) row {
	for _, r := range rows {
		if r.name == name {
			return r
		}
	}
	tb.Fatalf("no row %q among %s", name, names())
	return row{}
}
