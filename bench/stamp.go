package main

import (
	"encoding/binary"
	"strings"
	"time"
)

var processStart = time.Now()

// sinceStart is a clock cheaper than time.Now: it reads the monotonic one alone.
func sinceStart() time.Duration { return time.Since(processStart) }

const stampLen = 8

// stamped returns a value that tells when it was made.
func stamped(valueLen int) func(string) string {
	padding := strings.Repeat(".", max(valueLen-stampLen, 0))
	return func(string) string {
		stamp := binary.LittleEndian.AppendUint64(make([]byte, 0, stampLen), uint64(sinceStart()))
		return string(stamp) + padding
	}
}

// stampOf returns when value was made.
func stampOf(value string) time.Duration {
	var stamp [stampLen]byte
	copy(stamp[:], value)
	return time.Duration(binary.LittleEndian.Uint64(stamp[:]))
}
