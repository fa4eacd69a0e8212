package main

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDraw_numbersKeysByFirstAppearance(t *testing.T) {
	reqs := asked("bab")
	require.Equal(t, 3, reqs.Len())
	require.Equal(t, []string{keyOf('b'), keyOf('a')}, reqs.Keys())
	require.Equal(t, []int{0, 1, 0}, []int{reqs.At(0), reqs.At(1), reqs.At(2)})
}

func TestDrawScan_isTenToOne(t *testing.T) {
	const n = 11_000
	reqs := drawScan(n)
	times := make([]int, len(reqs.Keys()))
	for i := range reqs.Len() {
		times[reqs.At(i)]++
	}
	passing := 0
	for number, key := range reqs.Keys() {
		if productOf(key) > 1000 {
			passing++
			require.Equal(t, 1, times[number])
		}
	}
	require.InDelta(t, 10_000, passing, 200)
}

func TestDrawLoop_goesRound(t *testing.T) {
	reqs := drawLoop(10, 4)
	require.Len(t, reqs.Keys(), 4)
	for i := range 10 {
		require.Equal(t, i%4, reqs.At(i))
	}
}

func TestOpenTrace_readsGzip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "some.gz")
	f, err := os.Create(path)
	require.NoError(t, err)
	z := gzip.NewWriter(f)
	_, err = z.Write([]byte("5\n7\n5\n"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, f.Close())

	reqs, err := openTrace(path)
	require.NoError(t, err)
	require.Equal(t, "some.gz", reqs.name)
	require.Equal(t, 3, reqs.Len())
	require.Equal(t, []string{"5", "7"}, reqs.Keys())
	require.Equal(t, 1, optimum(reqs, 1))
}

func TestRoom(t *testing.T) {
	require.Equal(t, 1, room(0.001).of(100))
	require.Equal(t, 25, room(0.25).of(100))
	require.Equal(t, "0.1 %", room(0.001).String())
	require.Equal(t, "25 %", room(0.25).String())
}
