package redisstore

import (
	"strings"
	"sync"
)

// slots is the number of hash slots of a Redis Cluster.
const slots = 16384

// slotOf returns the slot that Redis gives to key: a CRC16 of the key, or of
// what is between its first { and the next }, if there is anything between.
func slotOf(key string) uint16 {
	if open := strings.IndexByte(key, '{'); open >= 0 {
		if n := strings.IndexByte(key[open+1:], '}'); n > 0 {
			key = key[open+1 : open+1+n]
		}
	}
	return crc16(key) % slots
}

// crc16 is the CRC of XMODEM: polynomial 0x1021, starting from 0.
func crc16(s string) (crc uint16) {
	for i := range len(s) {
		crc = crc<<8 ^ crcTable[byte(crc>>8)^s[i]]
	}
	return crc
}

var crcTable = func() (table [256]uint16) {
	for i := range table {
		crc := uint16(i) << 8
		for range 8 {
			carry := crc & 0x8000
			if crc <<= 1; carry != 0 {
				crc ^= 0x1021
			}
		}
		table[i] = crc
	}
	return table
}()

// tags returns, for each slot, a short string that hashes to it, so that keys
// can be put where we want them whatever the user's key looks like: in {tag} at
// the front of a key it is all that Redis looks at.
//
// The table belongs to the format of what is stored: it must not change.
var tags = sync.OnceValue(func() *[slots]string {
	const letters = "0123456789abcdefghijklmnopqrstuvwxyz"
	var table [slots]string
	left := slots
	for tag := []byte{letters[0]}; left > 0; tag = successor(tag, letters) {
		if s := crc16(string(tag)) % slots; table[s] == "" {
			table[s] = string(tag)
			left--
		}
	}
	return &table
})

// successor returns the word after word: the shorter come first, then those
// that differ at the front.
func successor(word []byte, letters string) []byte {
	for i, c := range word {
		if at := strings.IndexByte(letters, c) + 1; at < len(letters) {
			word[i] = letters[at]
			return word
		}
		word[i] = letters[0]
	}
	return append(word, letters[0])
}

// slotOfCopy returns the slot of copy i of n of a key in slot base, 0 < i < n: as
// far on as i of n equal ranges of slots. The ranges are those that redis-cli
// gives to n servers, and a copy keeps off their ends, so that n copies on n
// servers are on n different ones: also where the ends lie a slot elsewhere, but
// for keys in those very slots. (To go on by i*slots/n could not do that, since
// ranges that do not divide the slots differ in length; and names like key#1, left
// to the hash, clump: CRC16 is linear.)
func slotOfCopy(base uint16, i, n int) uint16 {
	const edge = 8
	at := int(base)
	part := at * n / slots
	switch {
	case at < endOf(part-1, n):
		part--
	case at >= endOf(part, n):
		part++
	}
	to := (part + i) % n
	from, end := endOf(to-1, n), endOf(to, n)
	return uint16(min(max(from+at-endOf(part-1, n), from+edge), end-1-edge))
}

// endOf returns the first slot behind part of n equal ranges.
func endOf(part, n int) int { return (2*(part+1)*slots + n) / (2 * n) }
