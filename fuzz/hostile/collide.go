package hostile

import (
	"hash/crc32"
	"hash/fnv"
	"math/rand/v2"
	"strings"

	"github.com/earlybird-cache/earlybird/fuzz/archive"
)

// collide aims all requests at one place of whatever tables the cache keeps: at one
// bucket, one lock, one shard. It can, where the hash that spreads keys over them is
// public and has no secret in it.
func collide(t *Target, rng *rand.Rand) func() string {
	return t.absent(oneOf(rng,
		func() string { return sameJavaHash(rng) },
		func() string { return sameShard(rng, fnvShard) },
		func() string { return sameShard(rng, crcShard) },
	))
}

// sameJavaHash draws from 2^40 names with one hash under h = 31h + b, the string hash of
// Java and of much that was modelled on it: Aa and BB have the same.
func sameJavaHash(rng *rand.Rand) string {
	var b strings.Builder
	for range 40 {
		b.WriteString(pick(rng, []string{"Aa", "BB"}))
	}
	return archive.Document("en", "acme", b.String())
}

// shards is how many a sharded map has; 32 and 16 divide it.
const shards = 64

// sameShard draws well-formed keys until one falls into the first shard.
func sameShard(rng *rand.Rand, shard func(key string) uint32) string {
	for {
		if key := archive.Product(rng.Uint64()); shard(key) == 0 {
			return key
		}
	}
}

func fnvShard(key string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key)) // never fails
	return h.Sum32() % shards
}

func crcShard(key string) uint32 { return crc32.ChecksumIEEE([]byte(key)) % shards }
