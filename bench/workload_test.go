package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPopular_isTheSameForEveryone(t *testing.T) {
	a, b := newWorkload(fewKeys).popular(), newWorkload(fewKeys).popular()
	require.Equal(t, a.text, b.text)
	for range 3 { // readers
		ra, rb := a.reader(), b.reader()
		for range 1000 {
			require.Equal(t, ra.next(), rb.next())
		}
	}
}

func TestDistinct_hardlyEverRepeats(t *testing.T) {
	s := newWorkload(1000).distinct()
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
