package bloom

import (
	"encoding/binary"
	"slices"
)

// A journal keeps the newest ids given to Add, as they were given: a new
// generation has a new secret, so digests under the old one are of no use to
// it. Ids are packed into chunks, each preceded by its length; the oldest
// chunk goes when there is no room. An id that is written over and over, as
// a cache's Set does, takes its room once in a while, not every time.
type journal struct {
	chunks [][]byte
	size   int // bytes of all chunks
	limit  int
	lately lately
}

const journalChunk = 64 << 10

func newJournal(limit int) journal {
	return journal{limit: limit, lately: lately{secret: newSecret(), limit: limit / 16}}
}

func (j *journal) append(id string) {
	if j.lately.seen(id) {
		return
	}
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

// lately knows exactly which ids were written within the last limit bytes, and
// up to twice that: well within what the journal still has.
type lately struct {
	secret      secret
	now, before *overlay
	bytes       int // written since now was begun
	limit       int
}

const mostLately = 32 << 10 // ids, so that short ones do not make it large

// seen reports whether the id was written lately, and counts it as written.
func (l *lately) seen(id string) bool {
	d := l.secret.digest(id)
	if l.now.has(d) || l.before.has(d) {
		return true
	}
	if l.bytes > l.limit || l.now.len() >= mostLately {
		l.now, l.before, l.bytes = nil, l.now, 0
	}
	if len(id) > l.limit { // so large that it may push out anything
		l.now, l.before = nil, nil
	}
	if l.now.full() {
		l.now = l.now.doubled()
	}
	l.now.insert(d)
	l.bytes += len(id) + 1
	return false
}
