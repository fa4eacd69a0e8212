package hostile

import (
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/fuzz/archive"
)

var theArchive = archive.New(8000, 1)

// fake is a target that lets every hundredth key through and notes what is done to it.
type fake struct {
	Target
	asked, rebuilt int
	passed         map[string]bool
	created        []string
}

func newFake() *fake {
	f := &fake{passed: make(map[string]bool)}
	f.Target = Target{
		Archive:   theArchive,
		MaxKeyLen: 1024,
		Reaches: func(key string) bool {
			f.asked++
			f.passed[key] = f.asked%100 == 0
			return f.passed[key]
		},
		Create:  func(key string) { f.created = append(f.created, key) },
		Rebuild: func() { f.rebuilt++ },
	}
	return f
}

// keysOf returns the first n keys of the attack of that name.
func keysOf(t *testing.T, name string, n int) []string {
	t.Helper()
	a, err := Named(name)
	require.NoError(t, err)
	return first(n, a.Keys(&newFake().Target, 1))
}

func first(n int, keys iter.Seq[string]) (some []string) {
	for key := range keys {
		if some = append(some, key); len(some) == n {
			break
		}
	}
	return some
}

func distinct(keys []string) map[string]bool {
	set := make(map[string]bool)
	for _, key := range keys {
		set[key] = true
	}
	return set
}

// wellFormed returns the share of keys with a right shape.
func wellFormed(keys []string) float64 {
	shapes, n := archive.Shapes(), 0
	for _, key := range keys {
		if shapes.Match(key) {
			n++
		}
	}
	return float64(n) / float64(len(keys))
}
