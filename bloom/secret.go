package bloom

import (
	"crypto/rand"
	"encoding/binary"
	"math/bits"
	"unsafe"

	bitsbloom "github.com/bits-and-blooms/bloom/v3"
	"github.com/dchest/siphash"
)

// A secret keys the digests of one build. Whoever knows it can manufacture
// ids that pass, so it stays in this process and in snapshots.
type secret struct{ k0, k1 uint64 }

func newSecret() secret {
	var b [16]byte
	rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	return secret{binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])}
}

// keyID names the secret and the way ids are hashed under it: a number that
// changes with either, be it the digest or the library's placing of it.
func (s secret) keyID() (id uint64) {
	b := s.digest("earlybird/bloom key id").bytes()
	for _, at := range bitsbloom.Locations(b[:], maxHashes) {
		id = bits.RotateLeft64(id, 7) ^ at
	}
	return id
}

// A digest stands for an id under one secret. lo is never zero, which leaves
// zero to mark an empty slot of an overlay.
type digest struct{ lo, hi uint64 }

// digest is SipHash-2-4-128 of the id.
func (s secret) digest(id string) digest {
	// The hash is assembly to the compiler, which would copy a converted
	// string for it; it only reads.
	lo, hi := siphash.Hash128(s.k0, s.k1, unsafe.Slice(unsafe.StringData(id), len(id)))
	return digest{lo | 1, hi}
}

// bytes is what the filter is fed, the same on every machine.
func (d digest) bytes() (b [16]byte) {
	binary.LittleEndian.PutUint64(b[:8], d.lo)
	binary.LittleEndian.PutUint64(b[8:], d.hi)
	return b
}

// digests is an append-only list in chunks: growing never copies, and a list
// being emptied gives its memory back as it goes.
type digests struct {
	chunks [][]digest
	n      uint64
}

const digestChunk = 8 << 10

func (ds *digests) append(d digest) {
	last := len(ds.chunks) - 1
	if last < 0 || len(ds.chunks[last]) == digestChunk {
		ds.chunks = append(ds.chunks, make([]digest, 0, digestChunk))
		last++
	}
	ds.chunks[last] = append(ds.chunks[last], d)
	ds.n++
}

// drain calls f with every digest and leaves the list empty.
func (ds *digests) drain(f func(digest)) {
	for i, chunk := range ds.chunks {
		for _, d := range chunk {
			f(d)
		}
		ds.chunks[i] = nil
	}
	*ds = digests{}
}
