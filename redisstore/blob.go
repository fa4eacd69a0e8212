package redisstore

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/earlybird-cache/earlybird/store"
)

var _ store.Blobs = (*Store[int])(nil)

//go:embed lua/blob.lua
var blobLua string

var blobScript = newScript(blobLua)

// A blob is a description and parts of 128 KiB, spread over the slots:
//
//	ns:b:{tag}name   the description
//	ns:p:{tag}id/i   part i: 8 bytes, xxHash64 of id, i and the rest; then bytes of
//	                 the blob
//
// The description is written when all parts are there. Its id is drawn anew for
// each blob, so a part is never another's.
const (
	partSize = 128 << 10
	blobEnds = time.Minute // how long the parts of a blob outlast it, for who is reading them
)

// described is what a description says.
type described struct {
	generation uint64
	size       int64
	id, mark   string
}

const (
	blobMagic  = "EBB\x01"
	mostMemory = 1 << 40 // bytes of a blob that anybody could mean
)

func (d described) bytes() []byte {
	b := binary.BigEndian.AppendUint64([]byte(blobMagic), d.generation)
	b = binary.AppendUvarint(b, uint64(d.size))
	b = binary.AppendUvarint(b, uint64(len(d.id)))
	b = append(b, d.id...)
	b = append(b, d.mark...)
	return binary.BigEndian.AppendUint64(b, xxhash.Sum64(b))
}

// parseDescribed undoes bytes, for what may have been damaged.
func parseDescribed(s string) (d described, ok bool) {
	at := len(s) - sumSize
	if at < 12 || s[:4] != blobMagic || xxhash.Sum64String(s[:at]) != bigEndian(s[at:]) {
		return d, false
	}
	d.generation = bigEndian(s[4:])
	rest := []byte(s[12:at])
	size, n := binary.Uvarint(rest)
	if n <= 0 || size > mostMemory {
		return d, false
	}
	d.size, rest = int64(size), rest[n:]
	length, n := binary.Uvarint(rest)
	if n <= 0 || length > uint64(len(rest)-n) {
		return d, false
	}
	d.id, d.mark = string(rest[n:n+int(length)]), string(rest[n+int(length):])
	return d, true
}

// parts returns how many there are.
func (d described) parts() int { return int((d.size + partSize - 1) / partSize) }

// descriptionOf returns the keys that the description of a name has.
func (t *tier) descriptionOf(name string) keys {
	slot := slotOf(name)
	k := t.Namespace + ":b:{" + t.namespace.tags[slot] + "}" + name
	return keys{value: k, lease: k, epoch: k, slot: slot}
}

// partOf returns the key of part i and its slot. Neighbours are far apart, on
// different servers.
func (t *tier) partOf(id string, i int) (string, uint16) {
	slot := uint16((uint64(slotOf(id)) + uint64(i)*5557) % slots)
	return t.Namespace + ":p:{" + t.namespace.tags[slot] + "}" + id + "/" + strconv.Itoa(i), slot
}

func partSum(id string, i int, data []byte) uint64 {
	var h xxhash.Digest
	h.Reset()
	fmt.Fprintf(&h, "%s/%d/", id, i)
	h.Write(data)
	return h.Sum64()
}

// PutBlob is that of [store.Blobs].
func (s *Store[V]) PutBlob(ctx context.Context, name string, b store.Blob) error {
	t := s.tier
	if b.Body == nil || b.Life <= 0 || len(b.Mark) > store.MaxMark {
		return &store.ValueError{Key: name, Err: errors.New("a blob without life or Body, or with too long a mark")}
	}
	if b.Size > t.MaxBlob {
		return t.tooLarge(name)
	}
	there, ok, err := t.describe(ctx, name)
	if err != nil {
		return err
	}
	if ok && there.generation >= b.Generation {
		return store.ErrLost
	}
	d := described{generation: b.Generation, mark: b.Mark, id: rand.Text()}
	life := min(b.Life, longest)
	if d.size, err = t.putParts(ctx, name, d.id, b.Body, life+blobEnds); err != nil {
		t.dropParts(d)
		return err
	}
	m, err := t.run(ctx, blobScript, t.descriptionOf(name), t.WriteTimeout, string(d.bytes()), strconv.FormatInt(milliseconds(life), 10))
	if err != nil { // it may be there all the same
		return err
	}
	reply, err := m.AsStrSlice()
	switch {
	case err != nil || len(reply) != 2:
		return errNonsense
	case reply[0] != "kept":
		t.dropParts(d)
		return store.ErrLost
	}
	if old, ok := parseDescribed(reply[1]); ok {
		t.dropParts(old)
	}
	return nil
}

// putParts stores what r has and returns how much that was.
func (t *tier) putParts(ctx context.Context, name, id string, r io.Reader, life time.Duration) (size int64, err error) {
	for i := 0; ; i++ {
		part := make([]byte, sumSize+partSize)
		n, err := io.ReadFull(r, part[sumSize:])
		if err == io.EOF {
			return size, nil
		}
		if err != nil && err != io.ErrUnexpectedEOF {
			return size, err
		}
		if size += int64(n); size > t.MaxBlob {
			return size, t.tooLarge(name)
		}
		part = part[:sumSize+n]
		binary.BigEndian.PutUint64(part, partSum(id, i, part[sumSize:]))
		if err := t.putPart(ctx, id, i, part, life); err != nil {
			return size, err
		}
		if n < partSize {
			return size, nil
		}
	}
}

func (t *tier) tooLarge(name string) error {
	return &store.ValueError{Key: name, Err: fmt.Errorf("more than the %d bytes allowed", t.MaxBlob)}
}

func (t *tier) putPart(ctx context.Context, id string, i int, part []byte, life time.Duration) error {
	key, slot := t.partOf(id, i)
	x, err := t.begin(ctx, slot, t.WriteTimeout)
	if err != nil {
		return err
	}
	replies, err := x.do(x.client.B().Set().Key(key).Value(stringOf(part)).PxMilliseconds(milliseconds(life)).Build())
	if err != nil {
		return err
	}
	return refusal(replies[0].Error())
}

// dropParts lets the parts of a blob end soon, behind the caller. They end by
// themselves if that fails.
func (t *tier) dropParts(d described) {
	t.start(func() {
		for i := range d.parts() {
			key, slot := t.partOf(d.id, i)
			x, err := t.begin(t.ctx, slot, t.WriteTimeout)
			if err != nil {
				return
			}
			if _, err := x.do(x.client.B().Pexpire().Key(key).Milliseconds(milliseconds(blobEnds)).Build()); err != nil {
				return
			}
		}
	})
}

// describe returns the description of a blob, false if there is none that makes
// sense.
func (t *tier) describe(ctx context.Context, name string) (described, bool, error) {
	k := t.descriptionOf(name)
	raw, ok, err := t.getString(ctx, k.value, k.slot)
	if err != nil || !ok {
		return described{}, false, err
	}
	d, ok := parseDescribed(raw)
	return d, ok, nil
}

// getString returns the string of a key, false if it has none. MGET finds none,
// too, where there is something else than a string.
func (t *tier) getString(ctx context.Context, key string, slot uint16) (string, bool, error) {
	x, err := t.begin(ctx, slot, t.WriteTimeout)
	if err != nil {
		return "", false, err
	}
	replies, err := x.do(x.client.B().Mget().Key(key).Build())
	if err != nil {
		return "", false, err
	}
	found, err := replies[0].ToArray()
	switch {
	case err != nil:
		return "", false, refusal(err)
	case len(found) != 1:
		return "", false, errNonsense
	}
	return text(found[0])
}

// GetBlob is that of [store.Blobs].
func (s *Store[V]) GetBlob(ctx context.Context, name string) (store.Blob, error) {
	d, ok, err := s.tier.describe(ctx, name)
	if err != nil || !ok || d.size > s.tier.MaxBlob {
		return store.Blob{}, err
	}
	return store.Blob{
		Generation: d.generation, Mark: d.mark, Size: d.size,
		Body: &blobReader{ctx: ctx, tier: s.tier, described: d},
	}, nil
}

// blobReader reads one part after the other.
type blobReader struct {
	described
	ctx  context.Context
	tier *tier
	next int    // part
	part []byte // what is left of the latest
	err  error
}

func (r *blobReader) Read(p []byte) (int, error) {
	for len(r.part) == 0 && r.err == nil && len(p) > 0 {
		r.part, r.err = r.fetch()
	}
	if len(r.part) == 0 {
		return 0, r.err
	}
	n := copy(p, r.part)
	r.part = r.part[n:]
	return n, nil
}

// fetch gets the next part; io.EOF if there is none.
func (r *blobReader) fetch() ([]byte, error) {
	i := r.next
	if i == r.parts() {
		return nil, io.EOF
	}
	key, slot := r.tier.partOf(r.id, i)
	raw, ok, err := r.tier.getString(r.ctx, key, slot)
	if err != nil {
		return nil, err
	}
	want := min(partSize, r.size-int64(i)*partSize)
	if !ok || int64(len(raw)) != sumSize+want {
		return nil, fmt.Errorf("%w: part %d of %d is not there", store.ErrBroken, i, r.parts())
	}
	data := bytesOf(raw)[sumSize:]
	if bigEndian(raw) != partSum(r.id, i, data) {
		return nil, fmt.Errorf("%w: part %d of %d is damaged", store.ErrBroken, i, r.parts())
	}
	r.next++
	return data, nil
}
