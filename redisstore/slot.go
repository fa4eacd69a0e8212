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
