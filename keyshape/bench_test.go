package keyshape

import "testing"

func BenchmarkMatch(b *testing.B) {
	set := MustCompile("user:{uint}:{slug}", "doc:{uuid}")
	overlap := MustCompile("{slug}-{uint}")
	for _, c := range []struct {
		name string
		set  *Set
		key  string
		want bool
	}{
		{"accept/24bytes", set, "user:1234567:jane-miller", true},
		{"accept/uuid", set, "doc:123e4567-e89b-12d3-a456-426614174000", true},
		{"accept/ulid", MustCompile("order:{ulid}"), "order:01ARZ3NDEKTSV4RRFFQ69G5FAV", true},
		{"accept/uint", MustCompile("product:{uint}"), "product:12345678", true},
		{"accept/overlap", overlap, "red-running-shoes-1234567", true},
		{"reject/24bytes", set, "user:1234567:jane--mille", false},
		{"reject/uuid", set, "doc:123e4567-e89b-12d3-a456-42661417400x", false},
		{"reject/start", set, "../../../etc/passwd?0123456789abcdef", false},
		{"reject/long", set, string(make([]byte, 4096)), false},
		{"reject/overlap", overlap, "red-running-shoes-0123456", false},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if c.set.Match(c.key) != c.want {
					b.Fatal("wrong answer")
				}
			}
		})
	}
}

func BenchmarkPart(b *testing.B) {
	key := Join("acme", "eu", "en-US", "1234567")
	b.ReportAllocs()
	for b.Loop() {
		if id, ok := Part(key, 3); !ok || id != "1234567" {
			b.Fatal("wrong answer")
		}
	}
}

func BenchmarkJoin(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if Join("acme", "eu", "en-US", "1234567") == "" {
			b.Fatal("wrong answer")
		}
	}
}
