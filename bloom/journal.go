package bloom

import (
	"encoding/binary"
	"slices"
)

// A journal keeps the newest ids given to Add, as they were given: a new
// generation has a new secret, so digests under the old one are of no use to
// it. Ids are packed into chunks, each preceded by its length; the oldest
// chunk goes when there is no room.
type journal struct {
	chunks [][]byte
	size   int // bytes of all chunks
	limit  int
}

const journalChunk = 64 << 10

func (j *journal) append(id string) {
	need := binary.MaxVarintLen64 + len(id)
	last := len(j.chunks) - 1
	if last < 0 || cap(j.chunks[last])-len(j.chunks[last]) < need {
		j.chunks = append(j.chunks, make([]byte, 0, max(journalChunk, need)))
		j.size += cap(j.chunks[last+1])
		j.trim()
		last = len(j.chunks) - 1
	}
	j.chunks[last] = appendID(j.chunks[last], id)
}

// trim drops the oldest chunks over the limit, but never the one being
// written.
func (j *journal) trim() {
	drop := 0
	for j.size > j.limit && drop < len(j.chunks)-1 {
		j.size -= cap(j.chunks[drop])
		drop++
	}
	j.chunks = slices.Delete(j.chunks, 0, drop)
}

// snapshot returns what has been written so far. It stays valid without a
// lock: appends go past its end.
func (j *journal) snapshot() [][]byte { return slices.Clone(j.chunks) }

// newest returns the chunk being written, likewise.
func (j *journal) newest() []byte {
	if len(j.chunks) == 0 {
		return nil
	}
	return j.chunks[len(j.chunks)-1]
}

func appendID(chunk []byte, id string) []byte {
	return append(binary.AppendUvarint(chunk, uint64(len(id))), id...)
}

// eachID calls f with the ids of a chunk, oldest first, until f says no.
func eachID(chunk []byte, f func(id string) bool) {
	for len(chunk) > 0 {
		n, width := binary.Uvarint(chunk)
		end := width + int(n)
		if !f(string(chunk[width:end])) {
			return
		}
		chunk = chunk[end:]
	}
}
