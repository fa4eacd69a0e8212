package redisstore

import (
	"crypto/sha256"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/store"
)

func TestSlotOf_isThatOfTheSpecification(t *testing.T) {
	require.EqualValues(t, 0x31C3, crc16("123456789"))
	for key, like := range map[string]string{
		"{user1000}.following": "user1000",
		"foo{{bar}}zap":        "{bar",
		"foo{bar}{zap}":        "bar",
	} {
		require.Equal(t, crc16(like)%slots, slotOf(key), key)
	}
	for _, key := range []string{"foo{}{bar}", "{", "}", "}{", "{}", ""} {
		require.Equal(t, crc16(key)%slots, slotOf(key), key)
	}
}

func TestTags_hitTheirSlots(t *testing.T) {
	all := strings.Join(tags()[:], " ")
	seen := map[string]bool{}
	for slot, tag := range tags() {
		require.EqualValues(t, slot, slotOf("{"+tag+"}anything"))
		require.LessOrEqual(t, len(tag), 4)
		require.False(t, seen[tag])
		seen[tag] = true
	}
	// What is stored is found again by this table alone.
	require.Equal(t, "0c8a74b264e9880c", fmt.Sprintf("%x", sha256.Sum256([]byte(all)))[:16])
}

func TestKeysOf_neverCollideAndStayInTheirSlot(t *testing.T) {
	n := newNamespace("eb")
	seen := map[string]string{}
	for _, key := range adversarial() {
		k := n.keysOf(key)
		require.Equal(t, slotOf(key), k.slot)
		require.Equal(t, n.epochOf(k.slot), k.epoch)
		for _, redisKey := range []string{k.value, k.lease} {
			require.Equal(t, k.slot, slotOf(redisKey), "%q", redisKey)
			if other, ok := seen[redisKey]; ok {
				require.Fail(t, "collision", "%q and %q", key, other)
			}
			seen[redisKey] = key
			require.NotEqual(t, k.epoch, redisKey)
		}
		require.Equal(t, k.slot, slotOf(k.epoch))
		require.Equal(t, k.slot, slotOf(n.changeKeysOf(key).splits))
		user, ok := n.userKeyOf(k.value)
		require.True(t, ok)
		require.Equal(t, key, user)
		for _, of := range []int{2, 3, 12} {
			for i := 1; i < of; i++ {
				c := n.copyOf(key, i, of)
				require.Equal(t, []string{c.value}, c.names())
				require.Equal(t, c.slot, slotOf(c.value), "%q", c.value)
				if other, ok := seen[c.value]; ok {
					require.Fail(t, "collision", "%q and %q", key, other)
				}
				seen[c.value] = key
			}
		}
	}
}

// n copies on n servers are on n different ones, whatever the key, if the slots
// are divided as redis-cli does; elsewhere but for a few slots at the seams.
func TestSlotOfCopy_differentServers(t *testing.T) {
	cli := func(i, n int) int { return (2*i*slots + n) / (2 * n) }
	down := func(i, n int) int { return i * slots / n }
	front := func(i, n int) int { return i*(slots/n) + min(i, slots%n) }
	for n := 2; n <= 16; n++ {
		require.LessOrEqual(t, together(n, n, cli), 0, "%d copies on as many servers", n)
		require.LessOrEqual(t, together(n, n, down), n, "%d copies, another division", n)
		require.LessOrEqual(t, together(n, n, front), 2*n, "%d copies, another division", n)
		for _, servers := range []int{n + 1, 2 * n, 50} {
			require.Zero(t, together(n, servers, cli), "%d copies on %d servers", n, servers)
			require.Zero(t, together(n, servers, down), "%d copies on %d servers", n, servers)
		}
	}
	for n := 2; n <= store.MostCopies; n++ {
		for base := range slots {
			for i := 1; i < n; i++ {
				if s := slotOfCopy(uint16(base), i, n); s >= slots || int(s) == base {
					require.Fail(t, "out of range", "copy %d of %d of %d", i, n, base)
				}
			}
		}
	}
}

// together counts the slots whose n copies are not on n servers.
func together(n, servers int, cut func(i, n int) int) (bad int) {
	var serverOf [slots]int
	for i := range servers {
		for s := cut(i, servers); s < cut(i+1, servers); s++ {
			serverOf[s] = i
		}
	}
	for base := range slots {
		used := uint64(1) << serverOf[base]
		for i := 1; i < n; i++ {
			used |= 1 << serverOf[slotOfCopy(uint16(base), i, n)]
		}
		if bits.OnesCount64(used) < n {
			bad++
		}
	}
	return bad
}

// adversarial returns keys that try to be elsewhere or to be each other.
func adversarial() []string {
	parts := []string{"", "{", "}", "{}", "a", "{a}", ":", "eb:v:", "eb:l:{", "eb:e:{0}", "\x00", "\xff", "\r\n", "#1", "x"}
	set := map[string]bool{}
	for _, a := range parts {
		for _, b := range parts {
			for _, c := range parts {
				set[a+b+c] = true
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for len(set) < 4000 {
		b := make([]byte, rng.IntN(20))
		for i := range b {
			b[i] = "{}ab:0\x00\xfe"[rng.IntN(8)]
		}
		set[string(b)] = true
	}
	keys := make([]string, 0, len(set))
	for key := range set {
		keys = append(keys, key)
	}
	return keys
}

func BenchmarkKeysOf(b *testing.B) {
	n := newNamespace("eb")
	b.ReportAllocs()
	for b.Loop() {
		n.keysOf("user:1234567890:profile")
	}
}
