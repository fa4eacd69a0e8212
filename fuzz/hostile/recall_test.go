package hostile

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/keyshape"
)

func TestReplay_asksForWhatItSawPass(t *testing.T) {
	for _, name := range []string{"replay", "stale-replay"} {
		a, err := Named(name)
		require.NoError(t, err)
		f := newFake()
		keys := first(500, a.Keys(&f.Target, 1))
		require.Len(t, distinct(keys), Learnt, name)
		require.Equal(t, 100*Learnt, f.asked, "%s learns before its first key", name)
		for _, key := range keys {
			require.True(t, f.passed[key], "%s: %q", name, key)
		}
		require.Equal(t, name == "stale-replay", f.rebuilt == 1)
	}
}

func TestReplay_goesOnWhereNothingPasses(t *testing.T) {
	a, err := Named("replay")
	require.NoError(t, err)
	f := newFake()
	f.Target.Reaches = func(string) bool { return false }
	keys := first(100, a.Keys(&f.Target, 1))
	require.Len(t, distinct(keys), 100)
}

func TestPollute_overfillsTheGuardAndWaits(t *testing.T) {
	a, err := Named("pollute")
	require.NoError(t, err)
	f := newFake()
	keys := first(1000, a.Keys(&f.Target, 1))
	require.EqualValues(t, 1, wellFormed(append(keys, f.created...)))
	require.Len(t, distinct(f.created), len(theArchive.Keys()))
	require.Equal(t, 1, f.rebuilt)
}

func TestHammer_knowsFewKeys(t *testing.T) {
	keys := keysOf(t, "hammer", 1000)
	require.Len(t, distinct(keys), Pounded)
	require.EqualValues(t, 1, wellFormed(keys))
}

func TestDeleted_isAllThatIsNoMore(t *testing.T) {
	require.Equal(t, distinct(theArchive.Deleted()), distinct(keysOf(t, "deleted", 1000)))
}

func TestScan_isAllThatExistsOncePerRound(t *testing.T) {
	n := len(theArchive.Keys())
	keys := keysOf(t, "scan", 2*n)
	require.Equal(t, keys[:n], keys[n:])
	require.Equal(t, slices.Sorted(slices.Values(theArchive.Keys())), slices.Sorted(slices.Values(keys[:n])))
	require.NotEqual(t, theArchive.Keys(), keys[:n], "its order is not that of popularity")
}

func TestCollide_allFallIntoOneBucket(t *testing.T) {
	keys := keysOf(t, "collide", 3000)
	require.EqualValues(t, 1, wellFormed(keys))
	hashes := make(map[int32]int)
	fnvs, crcs := 0, 0
	for _, key := range keys {
		parts, err := keyshape.Split(key)
		if err == nil {
			hashes[javaHash(parts[2])]++
			continue
		}
		inFNV, inCRC := fnvShard(key) == 0, crcShard(key) == 0
		require.True(t, inFNV || inCRC, "%q", key)
		if inFNV {
			fnvs++
		} else {
			crcs++
		}
	}
	require.Len(t, hashes, 1)
	require.InDelta(t, 1000, fnvs, 200)
	require.InDelta(t, 1000, crcs, 200)
	require.Len(t, distinct(keys), len(keys))
}

func javaHash(s string) (h int32) {
	for _, b := range []byte(s) {
		h = 31*h + int32(b)
	}
	return h
}
