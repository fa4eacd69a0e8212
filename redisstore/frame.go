package redisstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/earlybird-cache/earlybird/store"
)

// What is stored under a value key is one string, a head and perhaps a body.
//
// The head is written by the server's scripts, which choose the generation:
//
//	"EB", version, kind   4 bytes; the kind is V for a frame, T for a tombstone,
//	                      C for a copy
//	generation            8 bytes, big endian
//	epoch                 8 bytes; of a copy, see copies.go
//	2^53 - generation     8 bytes
//	2^53 - epoch          8 bytes
//
// 2^53 is as far as a script can count. The differences are the head's check: a
// script can compute them where it could not compute a checksum.
//
// A tombstone has no body. That of a frame is written by clients:
//
//	flags                 1 byte: absent, packed
//	codec                 1 byte
//	life, grace           uvarints, ns
//	delta, cost           uvarints, ns
//	length of the key     uvarint
//	key
//	payload               up to the checksum
//	checksum              8 bytes, xxHash64 of the body before it
//
// Whatever does not verify is a miss.
const (
	magic    = "EB"
	version  = 1
	headSize = 36
	sumSize  = 8

	kindFrame     = 'V'
	kindTombstone = 'T'
	kindCopy      = 'C'

	flagAbsent = 1 << 0
	flagPacked = 1 << 1

	mostGeneration = uint64(store.MaxGeneration)
)

var (
	errDamaged = errors.New("damaged frame")
	errForeign = errors.New("frame of another version, codec or key")
)

// head is what scripts know of a value key.
type head struct {
	kind       byte
	generation store.Generation
	epoch      uint64 // of a copy, how many milliseconds it ends before its base
}

// frame is a record on its way, its value encoded.
type frame struct {
	flags       byte
	codec       byte
	life, grace time.Duration
	delta, cost time.Duration
	key         string
	payload     []byte
}

// parseHead reads the head of what is stored and returns what follows it.
func parseHead(raw string) (h head, body string, err error) {
	if len(raw) < headSize || raw[:2] != magic {
		return head{}, "", errDamaged
	}
	if raw[2] != version {
		return head{}, "", errForeign
	}
	generation, okG := checked(raw[4:], raw[20:])
	epoch, okE := checked(raw[12:], raw[28:])
	h = head{kind: raw[3], generation: store.Generation(generation), epoch: epoch}
	body = raw[headSize:]
	switch {
	case !okG || !okE:
		return head{}, "", errDamaged
	case h.kind == kindFrame, h.kind == kindCopy, h.kind == kindTombstone && body == "":
		return h, body, nil
	}
	return head{}, "", errDamaged
}

// checked returns the number at the beginning of n if that of check agrees.
func checked(n, check string) (uint64, bool) {
	a, b := bigEndian(n), bigEndian(check)
	return a, a <= mostGeneration && b <= mostGeneration && a+b == mostGeneration
}

func bigEndian(s string) (n uint64) {
	for i := range 8 {
		n = n<<8 | uint64(s[i])
	}
	return n
}

// appendBody appends f as a body.
func (f frame) appendBody(b []byte) []byte {
	from := len(b)
	b = append(b, f.flags, f.codec)
	for _, d := range [...]time.Duration{f.life, f.grace, f.delta, f.cost} {
		b = binary.AppendUvarint(b, uint64(max(d, 0)))
	}
	b = binary.AppendUvarint(b, uint64(len(f.key)))
	b = append(b, f.key...)
	b = append(b, f.payload...)
	return binary.BigEndian.AppendUint64(b, xxhash.Sum64(b[from:]))
}

// parseBody reads a body that must be of the key. The frame's payload is a
// slice of body.
func parseBody(body []byte, key string) (f frame, err error) {
	at := len(body) - sumSize
	if at < 2 || xxhash.Sum64(body[:at]) != binary.BigEndian.Uint64(body[at:]) {
		return frame{}, errDamaged
	}
	f.flags, f.codec = body[0], body[1]
	rest := body[2:at]
	var n time.Duration
	for _, d := range [...]*time.Duration{&f.life, &f.grace, &f.delta, &f.cost, &n} {
		if *d, rest, err = duration(rest); err != nil {
			return frame{}, err
		}
	}
	switch {
	case f.flags&^(flagAbsent|flagPacked) != 0:
		return frame{}, fmt.Errorf("%w: unknown flags %x", errForeign, f.flags)
	case n > time.Duration(len(rest)), f.life <= 0:
		return frame{}, errDamaged
	case string(rest[:n]) != key:
		return frame{}, fmt.Errorf("%w: of another key", errForeign)
	}
	f.key, f.payload = key, rest[n:]
	return f, nil
}

// duration reads one uvarint.
func duration(b []byte) (time.Duration, []byte, error) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > 1<<63-1 {
		return 0, nil, errDamaged
	}
	return time.Duration(n), b[size:], nil
}
