package bloom

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJournal_keepsTheNewest(t *testing.T) {
	j := newJournal(4 * journalChunk)
	const n = 100_000
	for i := range n {
		j.append(name("product", i))
		require.LessOrEqual(t, j.size, j.limit)
	}
	at := -1
	for _, chunk := range j.snapshot() {
		eachID(chunk, func(id string) bool {
			if at < 0 {
				fmt.Sscanf(id, "product-%d", &at)
			}
			require.Equal(t, name("product", at), id)
			at++
			return true
		})
	}
	require.Equal(t, n, at, "up to the last, without a gap")
}

func TestJournal_holdsIDsLargerThanAChunk(t *testing.T) {
	j := newJournal(1)
	huge := fmt.Sprintf("%0*d", 2*journalChunk, 1)
	j.append("small")
	j.append(huge)
	eachID(j.newest(), func(id string) bool {
		require.Equal(t, huge, id)
		return true
	})
}

// One id set over and over does not push out others.
func TestJournal_repeatsTakeTheirRoomOnce(t *testing.T) {
	j := newJournal(2 * journalChunk)
	j.append("created")
	for i := range 200_000 {
		j.append(name("hot", i%100))
	}
	first := ""
	eachID(j.snapshot()[0], func(id string) bool {
		first = id
		return false
	})
	require.Equal(t, "created", first)
	require.Equal(t, journalChunk, j.size)
}

// Whatever lately remembers as written, the journal still has.
func TestJournal_whatItSkipsItHas(t *testing.T) {
	for _, size := range []int{1, 24, 500} {
		j := newJournal(16 * journalChunk)
		for i := range 100_000 {
			j.append(fmt.Sprintf("%0*d", size, i*i%30_011))
		}
		has := map[string]bool{}
		for _, chunk := range j.snapshot() {
			eachID(chunk, func(id string) bool {
				has[id] = true
				return true
			})
		}
		for _, set := range []*overlay{j.lately.now, j.lately.before} {
			require.NotZero(t, set.len())
			require.LessOrEqual(t, set.len(), mostLately)
		}
		for i := range 30_011 {
			id := fmt.Sprintf("%0*d", size, i)
			if d := j.lately.secret.digest(id); j.lately.now.has(d) || j.lately.before.has(d) {
				require.True(t, has[id], id)
			}
		}
	}
}
