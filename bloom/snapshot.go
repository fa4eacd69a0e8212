package bloom

import (
	"encoding/binary"
	"fmt"
	"time"

	bitsbloom "github.com/bits-and-blooms/bloom/v3"
)

// A snapshot is, in this order and little-endian: the header, the guard's
// name, a sample of ids packed like the journal, the filter's words, and the
// SHA-256 of all that.
//
// It holds the secret, or the bits would be worthless; so whoever can read it
// can make ids that pass, and SaveFile lets nobody but the owner.

// Snapshot describes a saved guard.
type Snapshot struct {
	// Read is when the ids began to be read from their source. What other
	// processes have created since then may be missing.
	Read time.Time
	// Saved is when the snapshot was taken. It has every id given to Add in
	// the saving process until then.
	Saved time.Time
	KeyID uint64 // see Stats
	IDs   uint64 // distinct ids held
}

// SnapshotError says why a snapshot cannot be loaded. The guard is as it was.
type SnapshotError struct {
	Reason string
	Err    error // the reader's, if that is what failed
}

func (e *SnapshotError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("bloom: snapshot %s: %v", e.Reason, e.Err)
	}
	return "bloom: snapshot " + e.Reason
}

func (e *SnapshotError) Unwrap() error { return e.Err }

const (
	snapshotMagic   = "earlybrd"
	snapshotVersion = 1
	sipHash24Bloom3 = 1       // hash id: SipHash-2-4-128, placed by bits-and-blooms/bloom/v3
	mostSampleBytes = 1 << 20 // of canaries in a snapshot
)

type header struct {
	Magic         [8]byte
	Version, Hash uint32
	KeyID         uint64
	Secret        [2]uint64
	Bits          uint64
	Hashes        uint64
	Design, Held  uint64
	Read, Saved   int64 // Unix nanoseconds
	NameBytes     uint32
	SampleBytes   uint32
}

func (g *generation) header(name string, sample []byte) header {
	h := header{
		Version:     snapshotVersion,
		Hash:        sipHash24Bloom3,
		KeyID:       g.secret.keyID(),
		Secret:      [2]uint64{g.secret.k0, g.secret.k1},
		Bits:        uint64(g.m),
		Hashes:      uint64(g.k),
		Design:      g.n,
		Held:        g.held,
		Read:        g.born.UnixNano(),
		Saved:       time.Now().UnixNano(),
		NameBytes:   uint32(len(name)),
		SampleBytes: uint32(len(sample)),
	}
	copy(h.Magic[:], snapshotMagic)
	return h
}

// check looks at everything that can be judged before the checksum is known,
// above all at what would be allocated for. The key id covers the secret, and
// with it whether ids are hashed here as they were where it was saved.
func (h *header) check(opts *Options) error {
	reason := ""
	switch {
	case string(h.Magic[:]) != snapshotMagic:
		reason = "is something else"
	case h.Version != snapshotVersion:
		reason = fmt.Sprintf("has the unknown format %d", h.Version)
	case h.Hash != sipHash24Bloom3 || h.KeyID != h.secret().keyID():
		reason = "was hashed in another way"
	case h.Hashes < 1 || h.Hashes > maxHashes || h.Bits < minBits || h.Bits%64 != 0,
		h.Design < 1 || h.Design > h.Bits || h.Held > h.Bits: // an id counts if it set a bit
		reason = fmt.Sprintf("has an impossible size: %d bits, %d hashes, %d of %d ids", h.Bits, h.Hashes, h.Held, h.Design)
	case h.Bits/8 > uint64(opts.MaxBytes):
		reason = fmt.Sprintf("takes %d bytes, more than MaxBytes", h.Bits/8)
	case h.NameBytes > longestName || h.SampleBytes > mostSampleBytes:
		reason = "has an impossible length"
	}
	if reason != "" {
		return &SnapshotError{Reason: reason}
	}
	return nil
}

func (h *header) secret() secret { return secret{h.Secret[0], h.Secret[1]} }

func (h *header) design() design { return design{n: h.Design, m: uint(h.Bits), k: uint(h.Hashes)} }

func (h *header) filling(words []uint64) *filling {
	d := h.design()
	return &filling{design: d, filter: bitsbloom.FromWithM(words, d.m, d.k), held: h.Held}
}

func (h *header) snapshot() Snapshot {
	return Snapshot{
		Read:  time.Unix(0, h.Read),
		Saved: time.Unix(0, h.Saved),
		KeyID: h.KeyID,
		IDs:   h.Held,
	}
}

var byteOrder = binary.LittleEndian
