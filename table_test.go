package earlybird

import (
	"math/bits"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestPlaces_missesNoTag(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		tags, tag := rng.Uint64(), rng.Uint64()&0xff
		for i := range ways {
			if rng.IntN(3) == 0 {
				tags = tags&^(0xff<<(8*i)) | tag<<(8*i)
			}
		}
		found := places(tags, tag)
		for i := range 8 {
			has, same := found>>(8*i)&0xff, i < ways && tags>>(8*i)&0xff == tag
			require.Contains(t, []uint64{0, 0x80}, has)
			if same {
				require.EqualValues(t, 0x80, has, "%016x, tag %02x, place %d", tags, tag, i)
			}
			if has != 0 && !same {
				require.Positive(t, i, "%016x: a place too many only follows a true one", tags)
				require.Less(t, i, ways)
			}
		}
	}
}

func TestTable_holdsNearlyAllThatItIsMadeFor(t *testing.T) {
	for _, n := range []int{1, 7, 100, 10_000, 200_000} {
		table, entries := newTable[int](n), make([]*entry[int], n)
		for i := range entries {
			entries[i] = newEntry[int](strconv.Itoa(i), 1)
			table.fit(i + 1)
			table.put(strconv.Itoa(i), entries[i])
		}
		for i, e := range entries { // growing has emptied it
			table.put(strconv.Itoa(i), e)
		}
		held := 0
		for i, e := range entries {
			if got := table.get(strconv.Itoa(i)); got != nil {
				require.Same(t, e, got)
				held++
			}
		}
		require.GreaterOrEqual(t, held, n-n/20, "of %d", n)
		require.LessOrEqual(t, len(*table.buckets.Load()), max(leastBuckets, n/filled+1))
	}
}

// Those who find their bucket full get a place in the end if they are asked for
// often.
func TestTable_popularEntriesTakeOver(t *testing.T) {
	table := newTable[int](1)
	for i := range 100 * leastBuckets * ways {
		table.put(strconv.Itoa(i), newEntry[int](strconv.Itoa(i), 1))
	}
	for i := range 100 {
		key := "popular" + strconv.Itoa(i)
		e := newEntry[int](key, 1)
		tries := 0
		for ; table.get(key) == nil; tries++ {
			table.put(key, e)
			require.Less(t, tries, 100*takeover, "a one-in-%d chance missed that often", takeover)
		}
	}
}

func TestTable_comparesWholeKeys(t *testing.T) {
	table := newTable[int](1000)
	for _, n := range []int{0, 1, nameLen - 1, nameLen, nameLen + 1, 2*nameLen + 1, 1024} {
		key := strings.Repeat("k", n)
		e := newEntry[int](key, 1)
		require.True(t, e.isOf(key))
		for _, other := range []string{key + "k", key + "\x00", key + strings.Repeat("\x00", nameLen), strings.Repeat("k", max(0, n-1)), strings.Repeat("k", max(0, n-1)) + "j"} {
			require.Equal(t, other == key, e.isOf(other), "%d: %q", n, other)
		}
		table.put(key, e)
		require.Same(t, e, table.get(key))
	}
}

// However puts and retirements interleave, an entry that was retired does not
// remain: it would be garbage for as long as nobody asks for its bucket.
func TestTable_keepsNothingRetired(t *testing.T) {
	table := newTable[int](1)
	const writers, rounds, keys = 4, 4_000, 64
	var each sync.WaitGroup
	for w := range writers {
		each.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 7))
			for range rounds {
				key := strconv.Itoa(rng.IntN(keys))
				e := newEntry[int](key, 1)
				var both sync.WaitGroup
				both.Go(func() { table.put(key, e) })
				table.put(key, e)
				e.retire()
				table.drop(key, e)
				both.Wait()
			}
		})
	}
	each.Wait()
	for i := range *table.buckets.Load() {
		for w := range ways {
			require.Nil(t, (*table.buckets.Load())[i].entries[w].Load())
		}
	}
}

// A bucket and what a hit looks at in an entry each fit a line of the
// processor's cache.
func TestTable_fitsCacheLines(t *testing.T) {
	if bits.UintSize != 64 {
		t.Skip("pointers are smaller here, and so is everything")
	}
	require.EqualValues(t, 64, unsafe.Sizeof(bucket[string]{}))
	require.LessOrEqual(t, unsafe.Sizeof(entry[string]{}), uintptr(96))
}
