package main

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPopular_isTheSameForEveryone(t *testing.T) {
	a, b := smallWorkload().popular(), smallWorkload().popular()
	require.Equal(t, a.text, b.text)
	for range 3 { // readers
		ra, rb := a.reader(), b.reader()
		for range 1000 {
			require.Equal(t, ra.next(), rb.next())
		}
	}
}

func TestDistinct_hardlyEverRepeats(t *testing.T) {
	s := smallWorkload().distinct()
	seen := make(map[string]bool)
	for range 20 {
		r := s.reader()
		for range 1000 {
			key := r.next()
			require.Len(t, key, keyLen)
			require.False(t, seen[key], key)
			seen[key] = true
		}
	}
}

func TestBatches_holdNoKeyTwice(t *testing.T) {
	text := smallWorkload().batches()
	for range 100 {
		seen := make(map[string]bool)
		for range batchLen {
			key := text[:keyLen]
			text = text[keyLen:]
			require.False(t, seen[key])
			seen[key] = true
		}
	}
}

// The most popular is drawn as often as the law says.
func TestPopularity_isZipfs(t *testing.T) {
	const n, draws = 100, 200_000
	for _, c := range []struct {
		p     popularity
		first float64 // 1 over the sum of i to the -p
	}{{0, 0.01}, {1, 0.192776}, {2, 0.611630}} {
		next, times := c.p.draws(n, rand.New(rand.NewPCG(1, 1))), make([]int, n)
		most := 0
		for range draws {
			product := next()
			times[product]++
			most = max(most, times[product])
		}
		require.InDelta(t, c.first, float64(most)/draws, 0.004, c.p.String())
	}
}
