package redisstore

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
	}
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
